// Receiving in place of a serving thread that executes a call for long.
//
// The relief executes nothing itself: it queues calls for contexts, settles replies, and sets calls of the main queue
// aside for the serving thread. While that one sleeps, so does the relief.
#include "base/thread.hpp"
#include "runtime/engine.hpp"

namespace ham::detail {
namespace {
constexpr std::chrono::milliseconds longest_wait{1};  // of a context's call behind a call of the main queue
}  // namespace

void engine::start_relief() {
  if (!serving_.load(std::memory_order_acquire)) return;
  std::lock_guard guard(relief_mutex_);
  if (relief_thread_.joinable() || end_relief_.load()) return;
  relief_thread_ = base::start_thread([this] { relieve(); });
}

void engine::stop_relief() noexcept {
  {
    std::lock_guard guard(relief_mutex_);
    end_relief_.store(true);
    if (!relief_thread_.joinable()) return;
  }
  kick();
  wake_relief();
  relief_thread_.join();
}

void engine::wake_relief() noexcept {
  std::lock_guard guard(relief_mutex_);
  relief_wanted_.notify_all();
}

void engine::relieve() {
  const engine_scope scope(this);
  thread_only_looks = true;
  const auto over = [this] { return end_relief_.load() || stop_.load(); };
  std::uint64_t seen = UINT64_MAX;
  while (!over()) {
    const std::uint64_t executed = calls_executed_.load(std::memory_order_relaxed);
    const bool busy = executing_.load(std::memory_order_relaxed) > 0;
    if (busy && executed == seen) {
      receive_while_executing();
      seen = UINT64_MAX;
      continue;
    }
    seen = busy ? executed : UINT64_MAX;
    rest_while_idle();
  }
}

void engine::rest_while_idle() {
  std::unique_lock lock(relief_mutex_);
  relief_rests_.store(true, std::memory_order_seq_cst);
  if (end_relief_.load() || stop_.load()) {
    // on to the end
  } else if (sleeping_.load(std::memory_order_seq_cst)) {
    relief_wanted_.wait(lock);
  } else {
    relief_wanted_.wait_for(lock, longest_wait);
  }
  relief_rests_.store(false, std::memory_order_seq_cst);
}

}  // namespace ham::detail
