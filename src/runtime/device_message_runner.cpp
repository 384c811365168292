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
  shared(engine& node, std::span<device::detail::outbox> messages)
      : at(node), of_blocks(std::make_unique<block[]>(messages.size())), blocks(messages.size()) {
    for (std::size_t i = 0; i < blocks; ++i) of_blocks[i].from = &messages[i];
  }

  struct block {
    [[nodiscard]] bool has_arrived(std::int64_t now_ns) const noexcept {
      return device::detail::has_message(*from, taken.load(std::memory_order_relaxed), now_ns);
    }

    device::detail::outbox* from = nullptr;  ///< not used behind a line of text once the runner is abandoned
    std::atomic<std::uint64_t> taken{0};     ///< of the thread, or of the runner's while there is none
    /// The ticket of the last message, and 1, whose answer is due in that slot; 0: it has been answered.
    std::atomic<std::uint64_t> asked[device::detail::answer_slots]{};
  };

  void run_arrived() noexcept;
  [[nodiscard]] bool take_next(device_message& to) noexcept;
  void work() noexcept;
  [[nodiscard]] bool has_arrived(std::int64_t now_ns) const noexcept;
  void expect_more() noexcept;

  engine& at;  ///< not used behind a line of text once it is abandoned
  const std::unique_ptr<block[]> of_blocks;
  const std::size_t blocks;
  std::size_t turn = 0;  ///< the block to be looked at next; of the thread that takes messages
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
  std::uint64_t left = device::detail::outbox_slots * blocks;
  device_message next;
  std::unique_lock lock(mutex);
  for (;;) {
    prints = false;
    if (abandoned || (ends && left-- == 0) || !take_next(next)) return;
    prints = next.function == device::detail::print_function;
    lock.unlock();
    execute_device_message(at, next);
    lock.lock();
  }
}

/// The device may go on when it is copied: only what there is of it.
bool device_message_runner::shared::take_next(device_message& to) noexcept {
  const std::int64_t now_ns = base::now_ns();
  for (std::size_t i = 0; i < blocks; ++i) {
    const std::size_t number = turn;
    turn = turn + 1 == blocks ? 0 : turn + 1;
    block& of = of_blocks[number];
    if (!of.has_arrived(now_ns)) continue;
    const std::uint64_t ticket = of.taken.load(std::memory_order_relaxed);
    const device::detail::message_head head = device::detail::copy_message(*of.from, ticket, to.arguments);
    to.function = head.function;
    to.node = head.node;
    to.answer = {static_cast<std::uint32_t>(number), head.answer, ticket};
    to.size = head.size;
    if (head.answer < device::detail::answer_slots) of.asked[head.answer].store(ticket + 1, std::memory_order_relaxed);
    of.taken.store(ticket + 1, std::memory_order_relaxed);
    device::detail::publish_consumed(*of.from, ticket + 1);
    return true;
  }
  return false;
}

bool device_message_runner::shared::has_arrived(std::int64_t now_ns) const noexcept {
  for (std::size_t i = 0; i < blocks; ++i)
    if (of_blocks[i].has_arrived(now_ns)) return true;
  return false;
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
  this_thread.serves_others = true;
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

device_message_runner::device_message_runner(engine& at, std::span<device::detail::outbox> from)
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

/// A message that is taken meanwhile for the same slot is answered behind this, by who calls this next.
void device_message_runner::answer(const device::detail::answer_place& to, device::detail::answer_status status,
                                   const std::byte* value, std::size_t size) noexcept {
  if (to.block >= shared_->blocks || to.slot >= device::detail::answer_slots) return;
  shared::block& of = shared_->of_blocks[to.block];
  std::uint64_t due = to.ticket + 1;
  if (!of.asked[to.slot].compare_exchange_strong(due, 0, std::memory_order_relaxed)) return;
  device::detail::fill_answer(*of.from, to.slot, to.ticket, status, value, size);
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
