// Where continuations and coroutines go on: executors, and the work that they are given.
//
//   offload::work_queue gui;                                   // run by the thread that owns the window
//   async(1, fn<&f>).then(std::ref(gui), [](int value) { show(value); }).detach();
//   while (open()) gui.run();
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>

#include "ham/offload/destination.hpp"

namespace ham::inline v1::detail {

/// What a work object runs, shared by its copies.
struct work_state {
  /// `dropped`: all copies have gone, and nobody has run it.
  void (*run)(work_state& self, bool dropped) noexcept = nullptr;
  void (*destroy)(work_state* self) noexcept = nullptr;
  std::uint64_t runtime = 0;  ///< of the node that it belongs to
};
struct shared_work;
[[nodiscard]] std::exception_ptr dropped_work() noexcept;
/// Whether the calling thread runs a work object, and may know nothing of the node that this belongs to.
[[nodiscard]] bool on_executor() noexcept;

}  // namespace ham::detail

namespace ham::inline v1::offload {

/// Something to be run once: what then(executor, f) and on(executor, ...) give to an executor. Copies stand for the
/// same. If all of them have gone without a call, the future, or the coroutine, gets ham::error. Any thread may call
/// it, as long as the runtime lives; afterwards it still runs, and its result is dropped.
class work {
 public:
  /// Takes the state over. Not for programs. Throws std::bad_alloc, and runs it as dropped then.
  explicit work(ham::detail::work_state& what);
  work(const work& other) noexcept;
  work(work&& other) noexcept : what_(std::exchange(other.what_, nullptr)) {}
  work& operator=(work other) noexcept {
    std::swap(what_, other.what_);
    return *this;
  }
  ~work();

  /// Runs it, unless it has been run. What it throws is in its future.
  void operator()() const noexcept;

 private:
  ham::detail::shared_work* what_;
};

namespace detail {

template <class Executor>
concept runs_work = requires(Executor& ex, work what) {
  ex.execute(std::move(what));
};
/// As a std::reference_wrapper does.
template <class Executor>
concept refers_to_executor = requires(Executor& ex, work what) {
  ex.get().execute(std::move(what));
};
template <class Executor>
[[nodiscard]] auto& executor_of(Executor& ex) noexcept {
  if constexpr (runs_work<Executor>)
    return ex;
  else
    return ex.get();
}

}  // namespace detail

/// Whatever runs work: ex.execute(w) has w() called, at once or later, on any thread. Executors are copied; pass one
/// that cannot be by std::ref, and let it outlive the work. It may throw if it takes no more: that is the future's
/// error.
template <class Executor>
concept executor = std::copy_constructible<std::decay_t<Executor>> &&
    (detail::runs_work<std::decay_t<Executor>> || detail::refers_to_executor<std::decay_t<Executor>>);

/// Runs work where it is made: on the thread that makes progress, as then(f) does.
class inline_executor {
 public:
  /// Runs it before it returns.
  void execute(const work& what) const noexcept { what(); }
};

/// Runs work on the threads of the process's pool (HAM_POOL_THREADS), which also execute pooled calls.
class pool_executor {
 public:
  /// Appends it to the queue of the pool; does not wait for it. Throws std::bad_alloc, std::system_error if no thread
  /// can start.
  void execute(work what) const;
};

/// A queue whose work is run by whoever calls run(): the thread of a user interface, the one that owns a GPU. Any
/// thread. The destructor drops what is left.
class work_queue {
 public:
  /// An empty one. Throws std::bad_alloc.
  work_queue();
  work_queue(const work_queue&) = delete;
  work_queue& operator=(const work_queue&) = delete;
  ~work_queue();

  /// Appends.
  void execute(work what);
  /// Runs what is in the queue now, and what that adds; gives the number. Does not wait.
  std::size_t run();
  /// The same after it has waited for something to run, for at most `time`. This makes no progress on calls: other
  /// threads do, such as the progress thread.
  template <class Rep, class Period>
  std::size_t run_for(std::chrono::duration<Rep, Period> time) {
    return run_until_ns(detail::time_from_now(time));
  }
  [[nodiscard]] std::size_t size() const;

 private:
  struct queue;
  std::size_t run_until_ns(std::int64_t until_ns);
  queue* queue_;  // owned
};

}  // namespace ham::offload
