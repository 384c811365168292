// Who moves which part, and when handing over pays.
#include "core/transfer_queue.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <system_error>
#include <utility>

#include "base/clock.hpp"
#include "base/process.hpp"
#include "base/renew.hpp"
#include "base/thread.hpp"
#include "core/thread_state.hpp"

namespace ham::inline v1::detail {
namespace {

constexpr std::int64_t gain = 8;  // how much longer than handing it over an access takes that is handed over
constexpr std::size_t min_handed_over = std::size_t{128} << 10;
constexpr std::size_t max_handed_over = std::size_t{8} << 20;
constexpr std::size_t telling_bytes = std::size_t{256} << 10;  // accesses of fewer bytes say little of the speed
constexpr std::int64_t max_cost_ns = 50'000;                   // a caller that took longer had lost its core

constexpr std::int64_t average(std::int64_t before, std::int64_t now) noexcept { return (7 * before + now) / 8; }

}  // namespace

transfer_queue::transfer_queue(engine* owner) noexcept : owner_(owner) { weigh(); }

bool transfer_queue::begin(const call_slot& slot, std::unique_ptr<transfer>& what, std::size_t bytes,
                           std::size_t piece_bytes, std::int64_t deadline_ns) noexcept {
  const std::int64_t before = base::now_ns();
  try {
    auto fresh = std::make_shared<job>(job{&slot, nullptr, bytes, std::max<std::size_t>(piece_bytes, 1), deadline_ns});
    guard locked(mutex_);
    if (stop_) return false;
    if (!thread_.joinable()) thread_ = base::start_thread([this] { run(); });
    jobs_.push_back(fresh);
    fresh->what = std::move(what);
    busy_.fetch_add(1, std::memory_order_relaxed);
    if (!resting_) return true;
    resting_ = false;
    news_.notify_all();
    learn_cost(base::now_ns() - before);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  } catch (const std::system_error&) {  // no thread
    return false;
  }
}

void transfer_queue::help(const call_slot& slot, std::int64_t until_ns) noexcept {
  guard locked(mutex_);
  const auto found =
      std::find_if(jobs_.begin(), jobs_.end(), [&](const shared_job& one) { return one->slot == &slot; });
  if (found == jobs_.end()) return;
  const shared_job mine = *found;
  if (mine->piece_bytes >= mine->bytes && until_ns != base::never_ns) return;  // it could take longer
  while (mine->taken < mine->bytes && base::now_ns() < until_ns) move_one(locked, mine);
}

void transfer_queue::finish(std::int64_t until_ns) noexcept {
  guard locked(mutex_);
  stop_ = true;
  news_.notify_all();
  const std::chrono::nanoseconds left(std::max<std::int64_t>(0, until_ns - base::now_ns()));
  news_.wait_for(locked, left, [this] { return jobs_.empty(); });
}

void transfer_queue::stop() noexcept {
  guard locked(mutex_);
  stop_ = true;
  news_.notify_all();
  if (thread_.joinable()) {
    std::thread ending = std::move(thread_);
    locked.unlock();
    ending.join();
    locked.lock();
  }
  news_.wait(locked, [this] { return jobs_.empty(); });  // others may be about to finish theirs
}

void transfer_queue::detach_after_fork() noexcept {
  base::renew(mutex_);
  base::renew(news_);
  base::renew(jobs_);
  base::renew(thread_);
  busy_.store(0);
  stop_ = true;
}

void transfer_queue::run() noexcept {
  const engine_scope scope(owner_);
  this_thread.only_receives = true;
  this_thread.serves_others = true;
  guard locked(mutex_);
  for (;;) {
    if (const shared_job next = untaken()) {
      move_one(locked, next);
    } else if (stop_) {
      return;
    } else {
      resting_ = true;
      news_.wait(locked, [this] { return !resting_ || stop_; });
      resting_ = false;
    }
  }
}

transfer_queue::expired transfer_queue::take_expired(const call_slot& slot) noexcept {
  guard locked(mutex_);
  const auto found =
      std::find_if(jobs_.begin(), jobs_.end(), [&](const shared_job& one) { return one->slot == &slot; });
  if (found == jobs_.end()) return {nullptr, false};
  const shared_job mine = *found;
  give_up(*mine);
  if (mine->under_way != 0) return {nullptr, true};
  expired result{std::move(mine->what), mine->moved != 0};
  remove(mine);
  return result;
}

/// What has not been begun never is.
void transfer_queue::give_up(job& it) noexcept {
  if (it.late || it.taken >= it.bytes) return;
  it.late = true;
  it.moved = std::exchange(it.taken, it.bytes);
}

/// Takes the next part of an access that has one. The lock is free meanwhile.
void transfer_queue::move_one(guard& locked, const shared_job& of) noexcept {
  job& it = *of;
  if (it.deadline_ns != 0 && base::now_ns() >= it.deadline_ns) {
    give_up(it);
    if (it.under_way == 0) end(locked, of);
    return;
  }
  const std::size_t at = it.taken;
  const std::size_t bytes = std::min(it.piece_bytes, it.bytes - at);
  it.taken = at + bytes;
  ++it.under_way;
  locked.unlock();
  const std::int64_t begin = base::now_ns();
  const transport::access_result how = it.what->move(at, bytes);
  const std::int64_t took = base::now_ns() - begin;
  locked.lock();
  learn_speed(bytes, took);
  if (how != transport::access_result::done && it.result == transport::access_result::done) {
    it.result = how;
    it.taken = it.bytes;  // the rest is not begun
  }
  if (--it.under_way == 0 && it.taken >= it.bytes) end(locked, of);
}

/// Nothing of it is being moved.
void transfer_queue::end(guard& locked, const shared_job& of) noexcept {
  job& it = *of;
  it.slot = nullptr;  // finish() gives it back
  locked.unlock();
  if (it.late && it.result == transport::access_result::done)
    it.what->expire(it.moved != 0);
  else
    it.what->finish(it.result);
  it.what.reset();
  locked.lock();
  remove(of);
}

void transfer_queue::remove(const shared_job& of) noexcept {
  jobs_.remove(of);
  busy_.fetch_sub(1, std::memory_order_relaxed);
  if (stop_) news_.notify_all();
}

transfer_queue::shared_job transfer_queue::untaken() const noexcept {
  const auto found =
      std::find_if(jobs_.begin(), jobs_.end(), [](const shared_job& one) { return one->taken < one->bytes; });
  return found == jobs_.end() ? nullptr : *found;
}

void transfer_queue::learn_cost(std::int64_t ns) noexcept {
  cost_ns_ = average(cost_ns_, std::min(ns, max_cost_ns));
  weigh();
}

void transfer_queue::learn_speed(std::size_t bytes, std::int64_t ns) noexcept {
  if (bytes < telling_bytes || ns <= 0) return;
  bytes_per_us_ = average(bytes_per_us_, std::max<std::int64_t>(1, static_cast<std::int64_t>(bytes) * 1000 / ns));
  weigh();
}

/// With one core there is nobody else to do it.
void transfer_queue::weigh() noexcept {
  const auto bytes = static_cast<std::size_t>(gain * cost_ns_ * bytes_per_us_ / 1000);
  min_bytes_.store(base::usable_cores() < 2 ? SIZE_MAX : std::clamp(bytes, min_handed_over, max_handed_over),
                   std::memory_order_relaxed);
}

}  // namespace ham::detail
