#include "runtime/device_message_runner.hpp"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "base/backoff.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/thread.hpp"
#include "core/thread_state.hpp"
#include "runtime/device_messages.hpp"

namespace ham::inline v1::detail {

struct device_message_runner::shared {
  shared(engine& node, device::detail::outbox& messages) : at(node), from(messages) {}

  void run_arrived() noexcept;
  void work() noexcept;
  [[nodiscard]] bool has_arrived(std::int64_t now_ns) const noexcept;
  void expect_more() noexcept;

  engine& at;                           ///< not used behind a line of text once it is abandoned
  device::detail::outbox& from;         ///< the same
  std::atomic<std::uint64_t> taken{0};  ///< of the thread, or of the runner's while there is none
  std::atomic<bool> busy{false};
  std::thread thread;  ///< of the runner's
  bool told = false;   ///< that there is none; of the runner's
  std::mutex mutex;    ///< guards what follows
  std::condition_variable due;
  bool prints = false;  ///< it is at work on a line of text
  bool ends = false;
  bool abandoned = false;  ///< nothing more is begun
  bool ended = false;
};

/// The place of a message is free as soon as it is copied: the device need not wait for its execution. At the end no
/// more than was there: the device may go on.
void device_message_runner::shared::run_arrived() noexcept {
  std::uint64_t left = device::detail::outbox_slots;
  std::unique_lock lock(mutex);
  for (;;) {
    prints = false;
    if (abandoned || (ends && left-- == 0)) return;
    const std::uint64_t position = taken.load(std::memory_order_relaxed);
    const auto* const found = device::detail::find_message(from, position, base::now_ns());
    if (found == nullptr) return;
    const device::detail::message_slot copy = *found;
    taken.store(position + 1, std::memory_order_relaxed);
    device::detail::publish_consumed(from, position + 1);
    prints = copy.head.function == device::detail::print_function;
    lock.unlock();
    execute_device_message(at, copy);
    lock.lock();
  }
}

bool device_message_runner::shared::has_arrived(std::int64_t now_ns) const noexcept {
  return device::detail::find_message(from, taken.load(std::memory_order_relaxed), now_ns) != nullptr;
}

/// A device that asks for one thing after the other is answered without a sleep in between.
void device_message_runner::shared::expect_more() noexcept {
  constexpr std::int64_t time_ns = 50'000;
  const std::int64_t until_ns = base::now_ns() + time_ns;
  base::backoff<base::backoff_schedule{.spins = 100}> pause;
  for (std::int64_t now = 0; !busy.load(std::memory_order_acquire) && now < until_ns; pause.wait()) {
    now = base::now_ns();
    if (has_arrived(now)) busy.store(true, std::memory_order_release);
  }
}

void device_message_runner::shared::work() noexcept {
  const engine_scope scope(&at);
  this_thread.only_receives = true;  // a function that it executed might wait for a message behind this one
  std::unique_lock lock(mutex);
  for (;;) {
    due.wait(lock, [this] { return ends || busy.load(std::memory_order_acquire); });
    const bool was_last = ends;  // what had arrived before the end is executed
    lock.unlock();
    run_arrived();
    lock.lock();
    busy.store(false, std::memory_order_release);
    if (was_last || abandoned) break;
    lock.unlock();
    expect_more();
    lock.lock();
  }
  ended = true;
}

device_message_runner::device_message_runner(engine& at, device::detail::outbox& from)
    : shared_(std::make_shared<shared>(at, from)) {}

device_message_runner::~device_message_runner() {
  constexpr std::int64_t time_at_end_ns = 300'000'000;  // the host kills a process that does not end in 500 ms
  constexpr base::backoff_schedule schedule{.spins = 20, .yields = 100, .sleep_ns = 20'000, .max_sleep_ns = 500'000};
  if (!shared_->thread.joinable()) {
    if (is_due(base::now_ns())) run();
    if (!shared_->thread.joinable()) return;
  }
  std::unique_lock lock(shared_->mutex);
  shared_->ends = true;
  shared_->due.notify_one();
  const std::int64_t until_ns = base::now_ns() + time_at_end_ns;
  for (base::backoff<schedule> pause; !shared_->ended;) {
    if (base::now_ns() > until_ns) {
      shared_->abandoned = true;
      if (shared_->prints) {  // which needs nothing of the node
        shared_->thread.detach();
        return;
      }
    }
    lock.unlock();
    pause.wait();
    lock.lock();
  }
  lock.unlock();
  shared_->thread.join();
}

bool device_message_runner::is_due(std::int64_t now_ns) const noexcept {
  return !shared_->busy.load(std::memory_order_acquire) && shared_->has_arrived(now_ns);
}

bool device_message_runner::is_quiet() const noexcept {
  return !shared_->busy.load(std::memory_order_acquire) && !shared_->has_arrived(base::never_ns);
}

void device_message_runner::run() {
  if (!shared_->thread.joinable()) {
    try {
      shared_->thread = base::start_thread([all = shared_] { all->work(); });
    } catch (const std::exception& problem) {  // std::bad_alloc, too; the next message tries again
      if (!std::exchange(shared_->told, true))
        base::log("runtime", base::log_level::warning, "messages of the device may hold up its calls: %s",
                  problem.what());
      shared_->run_arrived();
      return;
    }
  }
  const std::lock_guard guard(shared_->mutex);
  shared_->busy.store(true, std::memory_order_release);
  shared_->due.notify_one();
}

}  // namespace ham::detail
