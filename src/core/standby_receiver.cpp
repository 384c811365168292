// Receiving in place of a serving thread.
#include "core/standby_receiver.hpp"

#include <chrono>

#include "base/thread.hpp"
#include "core/thread_state.hpp"

namespace ham::inline v1::detail {
namespace {

constexpr std::chrono::milliseconds max_wait{1};  // of a context's call behind a call of the main queue

}  // namespace

void standby_receiver::start() {
  if (!node_.serving()) return;
  std::lock_guard guard(mutex_);
  if (thread_.joinable() || end_.load()) return;
  thread_ = base::start_thread([this] { run(); });
}

void standby_receiver::stop() noexcept {
  {
    std::lock_guard guard(mutex_);
    end_.store(true);
    if (!thread_.joinable()) return;
  }
  waiter_.wake();
  wake();
  thread_.join();
}

void standby_receiver::wake() noexcept {
  std::lock_guard guard(mutex_);
  wake_.notify_all();
}

void standby_receiver::run() {
  const engine_scope scope(owner_);
  this_thread.only_receives = true;
  this_thread.serves_others = true;
  std::uint64_t seen = UINT64_MAX;
  while (!over()) {
    const std::uint64_t executed = node_.calls_executed();
    const bool busy = node_.executing();
    if (busy && executed == seen) {
      waiter_.wait_until([this] { return !node_.executing() || over(); }, [this] { return node_.receive(); },
                         base::never_ns);
      seen = UINT64_MAX;
      continue;
    }
    seen = busy ? executed : UINT64_MAX;
    rest();
  }
}

void standby_receiver::rest() {
  std::unique_lock lock(mutex_);
  resting_.store(true, std::memory_order_seq_cst);
  if (over()) {
    // on to the end
  } else if (waiter_.sleeping_.load(std::memory_order_seq_cst)) {
    wake_.wait(lock);
  } else {
    wake_.wait_for(lock, max_wait);
  }
  resting_.store(false, std::memory_order_seq_cst);
}

void standby_receiver::poll_for_context(const std::atomic<bool>& news) {
  if (!node_.serving() || waiter_.node_.oversubscribed()) return;
  if (polling_.exchange(true)) return;  // one is enough
  this_thread.only_receives = true;
  polled_.store(true);
  std::int64_t idle_since = base::now_ns();
  for (unsigned round = 1; !news.load(std::memory_order_acquire) && !node_.stopping(); ++round) {
    const bool found = node_.receive();
    if (round % base::idle_polls_per_clock != 0 && !found) continue;
    const std::int64_t now = base::now_ns();
    if (found) idle_since = now;
    if (now - idle_since > waiter::max_spin_ns) break;
    if (waiter_.sleeping_.load(std::memory_order_acquire) && !waiter_.parking_.occupied()) waiter_.wake();
  }
  polling_.store(false);
  this_thread.only_receives = false;
  if (news.load(std::memory_order_acquire)) return;
  polled_.store(false);
  waiter_.notify_all();
}

}  // namespace ham::detail
