// The result of an asynchronous operation on another node.
#pragma once

#include <coroutine>
#include <exception>
#include <type_traits>
#include <utility>

#include "ham/offload/detail/engine_api.hpp"
#include "ham/offload/detail/local_result.hpp"
#include "ham/offload/executor.hpp"

namespace ham::inline v1::offload {

template <class Result>
class shared_future;

namespace detail {

/// What a continuation is called with.
enum class sees : bool { value, result };
template <class Result, class Function, sees What>
struct chain;
template <class Result, class Executor, class Function, sees What>
struct executor_chain;
/// Makes a Chain of a future, and gives the future of what it makes.
template <class Chain, class Source, class... Parts>
[[nodiscard]] auto start_chain(Source& source, Parts&&... parts) -> future<typename Chain::result>;

/// The slot of a future, for the library.
struct future_access {
  /// Takes the slot over.
  template <class Result>
  [[nodiscard]] static future<Result> make(call_slot* slot) noexcept {
    return future<Result>(slot);
  }
  /// Runs `what` when the future has settled; it stays valid. Throws ham::error if it is not.
  template <class Result>
  static void on_settled(const future<Result>& of, continuation* what) {
    if (of.slot_ == nullptr) [[unlikely]]
      throw_no_result();
    attach(*of.slot_, what);
  }
  /// Its runtime. Throws ham::error if the future is not valid, or the runtime has ended.
  template <class Result>
  [[nodiscard]] static engine& runtime(const future<Result>& of) {
    if (of.slot_ == nullptr) [[unlikely]]
      throw_no_result();
    if (of.slot_->owner == nullptr) [[unlikely]]
      throw_no_runtime();
    return *of.slot_->owner;
  }
  template <class Result>
  [[nodiscard]] static call_slot* slot(const future<Result>& of) noexcept {
    return of.slot_;
  }
  template <class Result>
  [[nodiscard]] static call_slot* release(future<Result>& of) noexcept {
    return std::exchange(of.slot_, nullptr);
  }
};

}  // namespace detail

/// Handle to the result of a call (paper 1, Table II). Movable, not copyable; one thread at a time.
///
/// The destructor, and assignment over a valid future, complete the operation first, so a discarded
/// `offload::put(...)` is synchronous; detach() lets go instead. Every future settles: with the value, with the
/// exception that the function threw, with ham::node_failure if the node dies, or with ham::deadline_exceeded. An error
/// that is dropped with its future, and that nobody has asked for, is told: ham::on_unobserved_error.
template <class Result>
class future {
 public:
  using value_type = Result;  ///< what get() gives

  future() noexcept = default;
  /// Takes the result over; `other` is not valid afterwards.
  future(future&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)) {}
  /// The same. A result that this one has held is completed first, as by the destructor.
  future& operator=(future&& other) noexcept {
    if (this != &other) {
      drop();
      slot_ = std::exchange(other.slot_, nullptr);
    }
    return *this;
  }
  ~future() { drop(); }

  /// True until get(), then(), detach() or a move took the result away.
  [[nodiscard]] bool valid() const noexcept { return slot_ != nullptr; }

  /// True if the result is there; makes progress, does not block. False for an invalid future.
  [[nodiscard]] bool test() {
    if (slot_ == nullptr) return false;
    if (!slot_->settled()) detail::poll_slot(*slot_);
    return slot_->settled();
  }

  /// Blocks until settled; executes calls that arrive meanwhile.
  void wait() const {
    require_valid();
    if (!slot_->settled()) detail::wait_slot(*slot_, INT64_MAX);
  }

  /// As wait(), but not longer than `time`. True if settled.
  template <class Rep, class Period>
  [[nodiscard]] bool wait_for(std::chrono::duration<Rep, Period> time) const {
    require_valid();
    return slot_->settled() || detail::wait_slot(*slot_, detail::time_from_now(time));
  }
  template <class Duration>
  [[nodiscard]] bool wait_until(std::chrono::time_point<std::chrono::steady_clock, Duration> until) const {
    require_valid();
    if (slot_->settled()) return true;
    return detail::wait_slot(*slot_, detail::nanoseconds_of(until.time_since_epoch()));
  }

  /// Blocks until settled and takes the value, or throws what the operation failed with. Invalidates the future.
  Result get() {
    wait();
    detail::call_slot& slot = *std::exchange(slot_, nullptr);
    if (slot.has_failed()) [[unlikely]]
      detail::rethrow_failure(slot);
    if constexpr (std::is_void_v<Result>) {
      detail::release_slot(slot);
    } else {
      const give_back guard{slot};
      return std::move(detail::slot_value<Result>::get(slot));
    }
  }

  /// Blocks until settled. True if there is a value, which get() then gives at once; false if there is an error, or if
  /// the future is invalid. Does not throw. The error counts as read.
  [[nodiscard]] bool has_value() const {
    if (slot_ == nullptr) return false;
    wait();
    return detail::see_failure(*slot_) == nullptr;
  }

  /// Blocks until settled. The error, or nullptr if there is a value; of an invalid future, an error that says so. Does
  /// not throw, and leaves the future as it is. ham::describe_error(...) tells what it is without a try block.
  [[nodiscard]] std::exception_ptr error() const {
    if (slot_ == nullptr) return detail::no_result();
    wait();
    return detail::see_failure(*slot_);
  }

  /// Asks the call to stop; does not wait. A call that waits in a queue, here or on its node, is taken out and fails
  /// with ham::operation_cancelled, `not_run`. One that runs is told if it goes to a stoppable() destination, or to one
  /// with a deadline or a token; the future then settles as `how` says. A call to any other destination that has begun,
  /// or waits in the main queue of a node that executes another one, goes on: it can be taken back only while it waits
  /// here, or for a context, the thread pool or a device. A call that is repeated (retry(), idempotent tasks of pools)
  /// is not sent again: if its process is lost, the future fails with that. True: it was taken out here, or its node is
  /// told, which reads that behind the call; whether it has run all the same, the future says. False: it has settled
  /// already, waits in a batch that is not sent yet, or is not a call: a transfer, what then() gives.
  bool request_stop(offload::when_stopped how = offload::when_stopped::after_answer) noexcept {
    return slot_ != nullptr && !slot_->settled() && detail::request_stop(*slot_, how);
  }

  /// Lets go: the operation goes on, its result is dropped. Its error is told.
  void detach() noexcept {
    if (slot_ == nullptr) return;
    detail::call_slot& slot = *std::exchange(slot_, nullptr);
    if (detail::abandon_slot(slot)) return;
    struct dropper : detail::continuation {
      detail::call_slot* target = nullptr;
    };
    auto* const later = new dropper;
    later->target = &slot;
    later->run = [](detail::continuation* self) {
      auto* const me = static_cast<dropper*>(self);
      discard(*me->target);
      delete me;
    };
    detail::attach(slot, later);
  }

  /// Runs `function(value)` when the value is there (`function()` for void), on the thread that makes progress, and
  /// gives a future of its result; if that is a future itself, of the result of that one. An error skips the function
  /// and goes on to the new future. Invalidates this one.
  /// Continuations begin one by one in the order in which their futures settled; a chain of them takes no stack. The
  /// function must not block for long: while it waits for another result, further continuations and calls run inside
  /// its wait, up to the limit of nesting (docs/thread-model.md).
  template <class Function>
  [[nodiscard]] auto then(Function&& function) {
    return detail::start_chain<detail::chain<Result, std::decay_t<Function>, detail::sees::value>>(
        *this, static_cast<Function&&>(function));
  }

  /// The same where `ex` runs it; an error goes on without it. The future fails if the executor drops the function.
  template <executor Executor, class Function>
  [[nodiscard]] auto then(Executor&& ex, Function&& function) {
    return detail::start_chain<
        detail::executor_chain<Result, std::decay_t<Executor>, std::decay_t<Function>, detail::sees::value>>(
        *this, static_cast<Executor&&>(ex), static_cast<Function&&>(function));
  }

  /// Runs `function(future<Result>)` with this future once it has settled, with a value or an error; else as then(). An
  /// error that the function does not read is told.
  template <class Function>
  [[nodiscard]] auto then_result(Function&& function) {
    return detail::start_chain<detail::chain<Result, std::decay_t<Function>, detail::sees::result>>(
        *this, static_cast<Function&&>(function));
  }
  template <executor Executor, class Function>
  [[nodiscard]] auto then_result(Executor&& ex, Function&& function) {
    return detail::start_chain<
        detail::executor_chain<Result, std::decay_t<Executor>, std::decay_t<Function>, detail::sees::result>>(
        *this, static_cast<Executor&&>(ex), static_cast<Function&&>(function));
  }

  /// Has `function(future<Result>)` called once this future has settled, as then_result(), and forgets it: for code
  /// that takes callbacks. What it throws is told (ham::on_unobserved_error). Invalidates this future.
  template <class Function>
  void on_result(Function&& function) {
    then_result(static_cast<Function&&>(function)).detach();
  }
  template <executor Executor, class Function>
  void on_result(Executor&& ex, Function&& function) {
    then_result(static_cast<Executor&&>(ex), static_cast<Function&&>(function)).detach();
  }

  /// Has `function()` called once this future has settled, with a value or an error, on the thread that makes progress
  /// (in an event loop: within serve_event_fd(), if no other thread waits). The future stays valid, and is read as
  /// ever, by the function or by others; it may also have gone by then. If the function wants the future itself,
  /// on_result() gives it one. A function that throws ends the program. Throws std::bad_alloc.
  template <class Function>
  void on_ready(Function&& function) const {
    static_assert(std::is_invocable_v<std::decay_t<Function>&>,
                  "ham: on_ready(f) calls f(); on_result(f) calls f(future)");
    require_valid();
    struct caller : detail::continuation {
      explicit caller(Function&& what) : call(static_cast<Function&&>(what)) {}
      std::decay_t<Function> call;
    };
    auto* const later = new caller(static_cast<Function&&>(function));
    later->run = [](detail::continuation* self) {
      auto* const me = static_cast<caller*>(self);
      [me]() noexcept { me->call(); }();
      delete me;
    };
    detail::attach(*slot_, later);
  }

  /// A future that can be copied, and read more than once (shared_future.hpp). Invalidates this one.
  [[nodiscard]] shared_future<Result> share();

  /// `co_await` gives the value or throws. The coroutine goes on in the thread that makes progress, as what then()
  /// runs.
  auto operator co_await() && noexcept {
    struct awaiter : detail::continuation {
      explicit awaiter(future source_) noexcept : source(std::move(source_)) {}
      [[nodiscard]] bool await_ready() const noexcept { return source.slot_ != nullptr && source.slot_->settled(); }
      void await_suspend(std::coroutine_handle<> waiting) {
        coroutine = waiting;
        run = [](detail::continuation* self) { static_cast<awaiter*>(self)->coroutine.resume(); };
        detail::future_access::on_settled(source, this);
      }
      Result await_resume() { return source.get(); }
      future source;
      std::coroutine_handle<> coroutine;
    };
    return awaiter(std::move(*this));
  }

 private:
  friend struct detail::future_access;

  explicit future(detail::call_slot* slot) noexcept : slot_(slot) {}

  struct give_back {
    detail::call_slot& slot;
    ~give_back() {
      detail::slot_value<Result>::destroy(slot);
      detail::release_slot(slot);
    }
  };

  void require_valid() const {
    if (slot_ == nullptr) [[unlikely]]
      detail::throw_no_result();
  }

  static void discard(detail::call_slot& slot) noexcept {
    if (slot.has_failed()) [[unlikely]] {
      detail::drop_failure(slot);
      return;
    }
    detail::slot_value<Result>::destroy(slot);
    detail::release_slot(slot);
  }

  void drop() noexcept {
    if (slot_ == nullptr) return;
    detail::call_slot& slot = *std::exchange(slot_, nullptr);
    if (!slot.settled()) detail::wait_slot(slot, INT64_MAX);
    discard(slot);
  }

  detail::call_slot* slot_ = nullptr;
};

/// A future that has its value already; a void one without arguments.
template <class Result, class... Args>
[[nodiscard]] future<Result> make_ready_future(Args&&... args) {
  detail::call_slot* const slot = detail::make_local_slot(detail::current());
  detail::slot_value<Result>::construct(*slot, std::forward<Args>(args)...);
  detail::settle_local(*slot, detail::slot_state::value);
  return detail::future_access::make<Result>(slot);
}

}  // namespace ham::offload

#include "ham/offload/detail/chain.hpp"
