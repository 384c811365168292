// Who fills staging memory, who waits for it, and how overlapping bytes are moved.
#include "runtime/device_heap.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "base/backoff.hpp"
#include "base/clock.hpp"
#include "base/renew.hpp"
#include "base/thread.hpp"
#include "ham/error.hpp"

namespace ham::inline v0::detail {
namespace {

constexpr std::size_t max_piece_bytes = std::size_t{1} << 20;
constexpr std::int64_t max_wait_at_end_ns = 1'000'000'000;

using copy_pause =
    base::backoff<base::backoff_schedule{.spins = 50, .yields = 50, .sleep_ns = 5'000, .max_sleep_ns = 20'000}>;

/// What one thread waits for.
struct awaited {
  std::atomic<std::size_t> left{0};
  std::atomic<bool> failed{false};
};

/// One piece of that.
class awaited_piece final : public device_access {
 public:
  /// `to`: where the bytes of a load go.
  explicit awaited_piece(awaited& of, std::byte* to = nullptr) noexcept : of_(of), to_(to) { of_.left.fetch_add(1); }
  ~awaited_piece() override { of_.left.fetch_sub(1, std::memory_order_release); }
  void finish(std::span<const std::byte> bytes, const std::string& failure) noexcept override {
    if (!failure.empty())
      of_.failed.store(true, std::memory_order_relaxed);
    else if (to_ != nullptr)
      std::memcpy(to_, bytes.data(), bytes.size());
  }

 private:
  awaited& of_;
  std::byte* const to_;
};

}  // namespace

device_heap::device_heap(std::unique_ptr<transport::device_memory> memory)
    : memory_(std::move(memory)),
      locks_(*memory_),
      arenas_(*memory_),
      allocations_(memory_->arena().address, memory_->arena().bytes),
      staging_(memory_->staging()),
      piece_bytes_(std::min(max_piece_bytes, staging_.size())) {
  if (piece_bytes_ == 0) {
    throw config_error(
        "the memory of this device cannot be used (there is no staging memory for copies); raise the limit of locked "
        "memory, ulimit -l");
  }
  for (std::size_t i = staging_.size() / piece_bytes_; i != 0; --i) free_slots_.push_back(i - 1);
  thread_ = base::start_thread([this] { run(); });
}

device_heap::~device_heap() {
  {
    std::lock_guard locked(mutex_);
    stop_ = true;
  }
  news_.notify_all();
  if (thread_.joinable()) thread_.join();
  const std::int64_t until = base::now_ns() + max_wait_at_end_ns;
  poll_until([&] { return started_.empty() || base::now_ns() > until; });
}

void device_heap::detach_after_fork() noexcept {
  base::renew(mutex_);
  base::renew(news_);
  base::renew(started_);
  base::renew(thread_);
  stop_ = true;
}

void device_heap::run() noexcept {
  copy_pause pause;
  guard locked(mutex_);
  while (!stop_) {
    if (std::exchange(lost_peer_, false)) {
      locked.unlock();
      arenas_.wake();
      locked.lock();
      continue;
    }
    if (started_.empty()) {
      news_.wait(locked, [this] { return !started_.empty() || lost_peer_ || stop_; });
      pause.reset();
      continue;
    }
    locked.unlock();
    if (poll()) pause.reset();
    pause.wait();
    locked.lock();
  }
}

bool device_heap::poll() noexcept {
  std::list<started> over;
  std::uint64_t finished = 0;
  std::string failure;
  {
    guard locked(mutex_);
    if (started_.empty()) return false;
    finished = memory_->finished();
    failure = memory_->failure();
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

template <class Done>
void device_heap::poll_until(Done done) noexcept {
  for (copy_pause pause; !done();) {
    if (poll())
      pause.reset();
    else
      pause.wait();
  }
}

std::size_t device_heap::take_slot(guard& locked) {
  for (copy_pause pause; free_slots_.empty();) {
    locked.unlock();
    if (!poll()) pause.wait();
    locked.lock();
  }
  const std::size_t slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

void device_heap::add(guard& locked, std::list<started>& fresh) noexcept {
  const bool sleeps = started_.empty();
  started_.splice(started_.end(), fresh);
  locked.unlock();
  if (sleeps) news_.notify_one();
}

/// Copies into a slot without the lock, so that others may begin copies meanwhile.
void device_heap::start(const device_rows& where, direction which, const std::byte* from, std::size_t bytes,
                        std::unique_ptr<device_access> after) {
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
                      [&](const transport::device_copy& copy) { one.last = memory_->start(copy); });
  add(locked, fresh);
}

void device_heap::store(const device_rows& to, std::span<const std::byte> bytes, std::unique_ptr<device_access> after) {
  start(to, direction::to_device, bytes.data(), bytes.size(), std::move(after));
}

void device_heap::load(const device_rows& from, std::size_t bytes, std::unique_ptr<device_access> after) {
  start(from, direction::to_host, nullptr, bytes, std::move(after));
}

/// `start` begins its copies and gives the number of the last one.
template <class Start>
void device_heap::begin(std::unique_ptr<device_access> after, Start start) {
  std::list<started> fresh(1);
  fresh.front().after = std::move(after);
  guard locked(mutex_);
  fresh.front().last = start();
  add(locked, fresh);
}

void device_heap::copy(const device_rows& where, direction which, std::byte* host, std::size_t bytes,
                       std::unique_ptr<device_access> after) {
  begin(std::move(after), [&] {
    std::uint64_t last = 0;
    where.for_each_copy(which, host, bytes, [&](const transport::device_copy& copy) { last = memory_->start(copy); });
    return last;
  });
}

void device_heap::copy_from_peer(const transport::peer_copy& what, std::unique_ptr<device_access> after) {
  begin(std::move(after), [&] { return memory_->start_from_peer(what); });
}

/// The thread of the copies wakes whoever follows the kernel: that may need locks behind which the engine's come.
void device_heap::forget_peer(node_t node) noexcept {
  if (!arenas_.forget(node)) return;
  {
    guard locked(mutex_);
    lost_peer_ = true;
  }
  news_.notify_one();
}

void device_heap::throw_failure() {
  guard locked(mutex_);
  throw call_error("the device has not copied what it should (" + memory_->failure() + ")");
}

namespace {

/// Whatever ends the scope, nothing of it is under way any more.
template <class Wait>
struct wait_at_end {
  Wait wait;
  ~wait_at_end() { wait(); }
};
template <class Wait>
wait_at_end(Wait) -> wait_at_end<Wait>;

}  // namespace

void device_heap::store_now(const device_rows& to, const std::byte* from, std::size_t bytes) {
  awaited all;
  {
    const wait_at_end end{[&] { poll_until([&] { return all.left.load(std::memory_order_acquire) == 0; }); }};
    for (std::size_t done = 0; done < bytes; done += piece_bytes_) {
      const std::size_t piece = std::min(piece_bytes_, bytes - done);
      start(to.behind(done), direction::to_device, from + done, piece, std::make_unique<awaited_piece>(all));
    }
  }
  if (all.failed.load()) throw_failure();
}

void device_heap::load_now(const device_rows& from, std::byte* to, std::size_t bytes) {
  awaited all;
  {
    const wait_at_end end{[&] { poll_until([&] { return all.left.load(std::memory_order_acquire) == 0; }); }};
    for (std::size_t done = 0; done < bytes; done += piece_bytes_) {
      const std::size_t piece = std::min(piece_bytes_, bytes - done);
      start(from.behind(done), direction::to_host, nullptr, piece, std::make_unique<awaited_piece>(all, to + done));
    }
  }
  if (all.failed.load()) throw_failure();
}

template <class Start>
void device_heap::start_and_wait(Start start) {
  awaited all;
  begin(std::make_unique<awaited_piece>(all), start);
  poll_until([&] { return all.left.load(std::memory_order_acquire) == 0; });
  if (all.failed.load()) throw_failure();
}

/// Overlapping bytes go through this process, from the end that is not overwritten before it is read.
void device_heap::copy_now(std::uint64_t to, std::uint64_t from, std::size_t bytes) {
  if (bytes == 0 || to == from) return;
  const std::uint64_t distance = to > from ? to - from : from - to;
  if (distance < bytes) {
    std::vector<std::byte> piece(std::min(bytes, piece_bytes_));
    for (std::size_t done = 0; done < bytes;) {
      const std::size_t size = std::min(piece.size(), bytes - done);
      const std::size_t at = to < from ? done : bytes - done - size;
      load_now({from + at}, piece.data(), size);
      store_now({to + at}, piece.data(), size);
      done += size;
    }
    return;
  }
  start_and_wait([&] { return memory_->start_within(to, from, bytes); });
}

void device_heap::copy_from_peer_now(const transport::peer_copy& what) {
  start_and_wait([&] { return memory_->start_from_peer(what); });
}

void device_heap::await_started() noexcept {
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
