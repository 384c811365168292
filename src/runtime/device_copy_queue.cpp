// Who fills staging memory, who waits for it, and who ends copies that are over.
#include "runtime/device_copy_queue.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/clock.hpp"
#include "base/renew.hpp"
#include "base/thread.hpp"
#include "core/thread_state.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::detail {
namespace {

constexpr std::size_t max_piece_bytes = std::size_t{1} << 20;
constexpr std::int64_t max_wait_at_end_ns = 1'000'000'000;

}  // namespace

device_copy_queue::device_copy_queue(transport::device_memory& memory, std::function<void()> on_asked)
    : memory_(memory),
      on_asked_(std::move(on_asked)),
      staging_(memory.staging()),
      piece_bytes_(std::min(max_piece_bytes, staging_.size())) {
  if (piece_bytes_ == 0) {
    throw config_error(
        "the memory of this device cannot be used (there is no staging memory for copies); raise the limit of locked "
        "memory, ulimit -l");
  }
  for (std::size_t i = staging_.size() / piece_bytes_; i != 0; --i) free_slots_.push_back(i - 1);
  thread_ = base::start_thread([this] { run(); });
}

device_copy_queue::~device_copy_queue() {
  {
    std::lock_guard locked(mutex_);
    stop_ = true;
  }
  news_.notify_all();
  if (thread_.joinable()) thread_.join();
  const std::int64_t until = base::now_ns() + max_wait_at_end_ns;
  poll_until([&] { return started_.empty() || base::now_ns() > until; });
}

void device_copy_queue::detach_after_fork() noexcept {
  base::renew(mutex_);
  base::renew(news_);
  base::renew(started_);
  base::renew(thread_);
  stop_ = true;
}

void device_copy_queue::run() noexcept {
  this_thread.serves_others = true;
  pause_between_polls pause;
  guard locked(mutex_);
  while (!stop_) {
    if (std::exchange(asked_, false)) {
      locked.unlock();
      on_asked_();
      locked.lock();
      continue;
    }
    if (started_.empty()) {
      news_.wait(locked, [this] { return !started_.empty() || asked_ || stop_; });
      pause.reset();
      continue;
    }
    locked.unlock();
    if (poll()) pause.reset();
    pause.wait();
    locked.lock();
  }
}

bool device_copy_queue::poll() noexcept {
  std::list<started> over;
  std::uint64_t finished = 0;
  std::string failure;
  {
    guard locked(mutex_);
    if (started_.empty()) return false;
    finished = memory_.finished();
    failure = memory_.failure();
    const auto first_left =
        failure.empty() ? std::ranges::find_if(started_, [finished](const started& one) { return one.last > finished; })
                        : started_.end();
    over.splice(over.begin(), started_, started_.begin(), first_left);
  }
  const bool any = !over.empty();
  while (!over.empty()) {
    started& one = over.front();
    const std::span<const std::byte> bytes(one.slot == no_slot ? nullptr : slot_at(one.slot), one.bytes);
    one.after->finish(bytes, one.last <= finished ? std::string() : failure);
    if (one.slot != no_slot) {
      guard locked(mutex_);
      free_slots_.push_back(one.slot);
    }
    over.pop_front();
  }
  return any;
}

std::size_t device_copy_queue::take_slot(guard& locked) {
  for (pause_between_polls pause; free_slots_.empty();) {
    locked.unlock();
    if (!poll()) pause.wait();
    locked.lock();
  }
  const std::size_t slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

void device_copy_queue::add(guard& locked, std::list<started>& fresh) noexcept {
  const bool sleeps = started_.empty();
  started_.splice(started_.end(), fresh);
  locked.unlock();
  if (sleeps) news_.notify_one();
}

/// Copies into a slot without the lock, so that others may begin copies meanwhile.
void device_copy_queue::start_staged(const device_rows& where, direction which, const std::byte* from,
                                     std::size_t bytes, std::unique_ptr<device_access> after) {
  std::list<started> fresh(1);
  started& one = fresh.front();
  one.bytes = bytes;
  one.after = std::move(after);
  guard locked(mutex_);
  one.slot = take_slot(locked);
  std::byte* const staged = slot_at(one.slot);
  if (which == direction::to_device) {
    locked.unlock();
    std::memcpy(staged, from, bytes);
    locked.lock();
  }
  where.for_each_copy(which, staged, bytes,
                      [&](const transport::device_copy& copy) { one.last = memory_.start(copy); });
  add(locked, fresh);
}

void device_copy_queue::ask() noexcept {
  {
    guard locked(mutex_);
    asked_ = true;
  }
  news_.notify_one();
}

std::string device_copy_queue::failure() {
  guard locked(mutex_);
  return memory_.failure();
}

void device_copy_queue::await_started() noexcept {
  std::uint64_t last = 0;
  {
    guard locked(mutex_);
    if (started_.empty()) return;
    last = started_.back().last;
  }
  poll_until([&] {
    guard locked(mutex_);
    return started_.empty() || started_.front().last > last;
  });
}

}  // namespace ham::detail
