// Work that is counted, so that what an executor drops is noticed; the library's executors.
#include "ham/offload/executor.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

#include "base/clock.hpp"
#include "core/thread_state.hpp"
#include "ham/error.hpp"
#include "ham/msg/thread_pool.hpp"
#include "runtime/engine.hpp"
#include "runtime/forks.hpp"

namespace ham::inline v1 {
namespace detail {

struct shared_work {
  explicit shared_work(work_state& state) noexcept : what(&state) {}
  work_state* const what;
  std::atomic<std::uint32_t> copies{1};
  std::atomic<bool> run{false};
};

namespace {

/// The thread may be anybody's. Where another runtime is the process's, the functions of ham::offload use the one that
/// the work belongs to.
void run_here(work_state& what, bool dropped) noexcept {
  const bool before = std::exchange(this_thread.on_executor, true);
  engine* const owner = this_thread.current == nullptr ? find_engine(what.runtime) : nullptr;
  if (owner != nullptr && owner != process_engine()) {
    const engine_scope scope(owner);
    what.run(what, dropped);
  } else {
    what.run(what, dropped);
  }
  this_thread.on_executor = before;
}

}  // namespace

bool on_executor() noexcept { return this_thread.on_executor; }

std::exception_ptr dropped_work() noexcept {
  try {
    return std::make_exception_ptr(
        error("a continuation has not run (its executor has dropped it); let the executor run all that it takes"));
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace detail

namespace offload {

work::work(ham::detail::work_state& what) : what_(nullptr) {
  try {
    what_ = new ham::detail::shared_work(what);
  } catch (...) {
    ham::detail::run_here(what, true);
    what.destroy(&what);
    throw;
  }
}

work::work(const work& other) noexcept : what_(other.what_) {
  if (what_ != nullptr) what_->copies.fetch_add(1, std::memory_order_relaxed);
}

work::~work() {
  if (what_ == nullptr || what_->copies.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (!what_->run.exchange(true)) ham::detail::run_here(*what_->what, true);
  what_->what->destroy(what_->what);
  delete what_;
}

void work::operator()() const noexcept {
  const work held(*this);  // it may be the last thing that this object is used for
  if (held.what_ == nullptr || held.what_->run.exchange(true)) return;
  ham::detail::run_here(*held.what_->what, false);
}

void pool_executor::execute(work what) const { msg::thread_pool::process().submit(std::move(what)); }

struct work_queue::queue {
  std::mutex mutex;
  std::condition_variable added;
  std::deque<work> waiting;

  /// Nothing at the end of the time.
  std::optional<work> take(std::int64_t until_ns) {
    std::unique_lock lock(mutex);
    while (waiting.empty()) {
      const std::int64_t left_ns = until_ns - base::now_ns();
      if (left_ns <= 0) return std::nullopt;
      constexpr std::int64_t max_wait_ns = 3'600'000'000'000;
      added.wait_for(lock, std::chrono::nanoseconds(std::min(left_ns, max_wait_ns)));
    }
    std::optional<work> first(std::move(waiting.front()));
    waiting.pop_front();
    return first;
  }
};

work_queue::work_queue() : queue_(new queue) {}
work_queue::~work_queue() { delete queue_; }

void work_queue::execute(work what) {
  const std::lock_guard guard(queue_->mutex);
  queue_->waiting.push_back(std::move(what));
  queue_->added.notify_one();
}

std::size_t work_queue::run() { return run_until_ns(0); }

std::size_t work_queue::run_until_ns(std::int64_t until_ns) {
  std::size_t count = 0;
  while (const auto next = queue_->take(count == 0 ? until_ns : 0)) {
    (*next)();
    ++count;
  }
  return count;
}

std::size_t work_queue::size() const {
  const std::lock_guard guard(queue_->mutex);
  return queue_->waiting.size();
}

}  // namespace offload
}  // namespace ham
