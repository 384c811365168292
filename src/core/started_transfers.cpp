// Who polls, and how often.
#include "core/started_transfers.hpp"

#include <iterator>
#include <new>
#include <system_error>
#include <utility>

#include "base/backoff.hpp"
#include "base/clock.hpp"
#include "base/renew.hpp"
#include "base/thread.hpp"
#include "core/thread_state.hpp"

namespace ham::inline v1::detail {
namespace {

/// A poll that took so long has moved bytes: the next one probably does as well.
constexpr std::int64_t moving_ns = 5'000;

/// Between polls that move nothing, because the peer's turn is longer.
using poll_pause = base::backoff<base::backoff_schedule{.spins = 30, .yields = 0, .sleep_ns = 50'000}>;

}  // namespace

bool started_transfers::begin(std::unique_ptr<started_transfer>& what, bool any_thread) noexcept {
  std::list<entry> fresh;
  try {
    fresh.push_back({nullptr, any_thread});
  } catch (const std::bad_alloc&) {
    return false;
  }
  {
    guard locked(mutex_);
    if (closed_ || (any_thread && !start_thread(locked))) return false;
  }
  std::unique_ptr<started_transfer> mine = std::move(what);
  if (mine->move_on()) return true;  // it could not even begin
  guard locked(mutex_);
  if (stop_) {
    locked.unlock();
    mine->give_up();
    return true;
  }
  fresh.front().what = std::move(mine);
  entries_.splice(entries_.end(), fresh);
  busy_.fetch_add(1, std::memory_order_relaxed);
  if (any_thread && for_thread_++ == 0) news_.notify_all();
  return true;
}

bool started_transfers::start_thread(guard&) noexcept {
  if (thread_.joinable()) return true;
  try {
    thread_ = base::start_thread([this] { run(); });
    return true;
  } catch (const std::system_error&) {
    return false;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void started_transfers::run() noexcept {
  const engine_scope scope(owner_);
  this_thread.only_receives = true;
  this_thread.serves_others = true;
  poll_pause pause;
  guard locked(mutex_);
  while (!stop_) {
    if (for_thread_ == 0) {
      news_.wait(locked, [this] { return for_thread_ != 0 || stop_; });
      pause.reset();
      continue;
    }
    locked.unlock();
    const std::int64_t begin = base::now_ns();
    poll();
    if (base::now_ns() - begin > moving_ns) pause.reset();
    pause.wait();
    locked.lock();
  }
}

void started_transfers::poll() noexcept { static_cast<void>(try_poll()); }

bool started_transfers::try_poll() noexcept {
  if (polling_.exchange(true, std::memory_order_acquire)) return false;
  guard locked(mutex_);
  for (auto one = entries_.begin(); one != entries_.end();) {
    locked.unlock();
    const bool over = one->what->move_on();
    locked.lock();
    const auto next = std::next(one);
    if (over) {
      if (one->any_thread) --for_thread_;
      std::list<entry> done;
      done.splice(done.begin(), entries_, one);
      busy_.fetch_sub(1, std::memory_order_relaxed);
      locked.unlock();
      done.clear();
      locked.lock();
    }
    one = next;
  }
  polling_.store(false, std::memory_order_release);
  return true;
}

void started_transfers::finish(std::int64_t until_ns) noexcept {
  {
    guard locked(mutex_);
    closed_ = true;
  }
  for (poll_pause pause; busy() && base::now_ns() < until_ns; pause.wait()) poll();
}

void started_transfers::stop() noexcept {
  std::thread ending;
  {
    guard locked(mutex_);
    closed_ = true;
    stop_ = true;
    news_.notify_all();
    ending.swap(thread_);
  }
  if (ending.joinable()) ending.join();
  for (poll_pause pause; polling_.exchange(true, std::memory_order_acquire);) pause.wait();  // by another thread
  std::list<entry> left;
  {
    guard locked(mutex_);
    left.swap(entries_);
    for_thread_ = 0;
  }
  for (const entry& one : left) one.what->give_up();
  left.clear();
  busy_.store(0, std::memory_order_relaxed);
  polling_.store(false, std::memory_order_release);
}

void started_transfers::detach_after_fork() noexcept {
  base::renew(mutex_);
  base::renew(news_);
  base::renew(entries_);
  base::renew(thread_);
  for_thread_ = 0;
  busy_.store(0);
  polling_.store(false);
  closed_ = true;
  stop_ = true;
}

}  // namespace ham::detail
