// How a stop reaches the call that it is for.
#include "core/call_stops.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "base/clock.hpp"
#include "base/renew.hpp"

namespace ham::inline v1::detail {
namespace {

constexpr std::int64_t look_interval_ns = 100'000;  // where the word says nothing, and may have been overwritten
constexpr std::int64_t poll_interval_ns = 2'000;    // a poll of a socket takes a good part of that
constexpr std::size_t min_buckets = 16;
constexpr std::int64_t quick_ns = 500;  // a function that polls more often need not look at the clock each time

}  // namespace

bool stop_state::poll() noexcept { return static_cast<call_stop*>(this)->poll_node(); }

/// How many polls of the function do not look at the clock: if it polls on as before, a while passes meanwhile.
std::uint32_t call_stop::polls_to_skip(std::int64_t now_ns) noexcept {
  const std::int64_t passed = now_ns - looked_ns_.load(std::memory_order_relaxed);
  looked_ns_.store(now_ns, std::memory_order_relaxed);
  const std::uint32_t polls = unasked_.load(std::memory_order_relaxed);
  if (passed < quick_ns) return std::min(2 * polls + 1, max_unasked);
  return passed > 4 * quick_ns ? polls / 4 : passed > 2 * quick_ns ? polls / 2 : polls;
}

/// The word is set, perhaps for another call, or there is none.
bool call_stop::poll_node() noexcept {
  const std::atomic<std::uint64_t>* const word = word_.load(std::memory_order_acquire);
  const std::uint64_t said = word == nullptr ? 0 : word->load(std::memory_order_acquire);
  if (word != nullptr && said == mark_) {
    request();
    return true;
  }
  const std::int64_t now = base::now_ns();
  unasked_.store(polls_to_skip(now), std::memory_order_relaxed);
  const std::int64_t next = next_poll_ns_.load(std::memory_order_relaxed);
  if (next == base::never_ns) return false;  // it has ended
  if (now >= deadline_ns_) {
    request();
    return true;
  }
  if (now < next) return false;
  const bool silent = word != nullptr && said == 0;
  next_poll_ns_.store(now + (silent ? look_interval_ns : poll_interval_ns), std::memory_order_relaxed);
  if (silent && next == 0) return false;  // the function has just begun
  stopped_node* node = nullptr;
  {
    std::lock_guard guard(mutex_);
    node = node_;
  }
  // All, where the word is another's: the frame of this one may be behind that which frees the word.
  if (node != nullptr) node->receive_stops(said != 0);
  return requested_.load(std::memory_order_acquire);
}

bool call_stop::requested_before_begin() noexcept {
  const std::atomic<std::uint64_t>* const word = word_.load(std::memory_order_relaxed);
  const std::uint64_t said = word == nullptr ? 0 : word->load(std::memory_order_acquire);
  if (said == mark_ && word != nullptr) return true;
  if (word == nullptr || said != 0) node_->receive_stops(true);
  return requested_.load(std::memory_order_acquire);
}

std::vector<nested_call> call_stop::take_nested() noexcept {
  std::lock_guard guard(mutex_);
  requested_.store(true, std::memory_order_release);
  return std::move(nested_);
}

void call_stop::request() noexcept {
  stopped_node* node = nullptr;
  {
    std::lock_guard guard(mutex_);
    node = node_;
  }
  const std::vector<nested_call> nested = take_nested();
  if (node == nullptr) return;
  for (const nested_call& call : nested) node->stop_nested(call);
}

bool call_stop::add_nested(const nested_call& call) noexcept {
  std::lock_guard guard(mutex_);
  if (requested_.load(std::memory_order_relaxed)) return true;
  if (nested_.size() >= max_nested_ && node_ != nullptr) {
    node_->drop_settled(nested_);
    max_nested_ = std::max(min_nested, 2 * nested_.size());
  }
  try {
    nested_.push_back(call);
  } catch (const std::bad_alloc&) {  // it has left: to fail now would lose it
  }
  return false;
}

void call_stop::end() noexcept {
  word_.store(nullptr, std::memory_order_release);
  next_poll_ns_.store(base::never_ns, std::memory_order_relaxed);
  std::lock_guard guard(mutex_);
  nested_.clear();
  if (stopped_node* const node = std::exchange(node_, nullptr)) node->count_stoppable(-1);
}

void call_stop::detach_after_fork() noexcept {
  base::renew(mutex_);
  word_.store(nullptr, std::memory_order_relaxed);
  next_poll_ns_.store(base::never_ns, std::memory_order_relaxed);
  node_ = nullptr;
}

// ---- the list

std::shared_ptr<call_stop> call_stops::begin(std::shared_ptr<call_stop> one) {
  {
    std::lock_guard guard(mutex_);
    if (count_ == buckets_.size()) grow();
    push(*one);
    ++count_;
  }
  call_stop* const at = one.get();
  at->begin();
  return {at, [this, keep = std::move(one)](call_stop* ended) noexcept { end(*ended); }};
}

void call_stops::end(call_stop& one) noexcept {
  one.end();
  std::lock_guard guard(mutex_);
  if (buckets_.empty()) return;
  call_stop** at = &buckets_[bucket_of(one.of())];
  while (*at != nullptr && *at != &one) at = &(*at)->next_listed_;
  if (*at == nullptr) return;
  *at = one.next_listed_;  // at once: a child of fork walks through all, whatever another thread was doing
  --count_;
}

std::shared_ptr<call_stop> call_stops::find(const peer& from, std::uint32_t call) const {
  std::lock_guard guard(mutex_);
  if (buckets_.empty()) return nullptr;
  call_stop* one = buckets_[bucket_of({nullptr, &from, call})];
  while (one != nullptr && (one->of().from != &from || one->of().call != call)) one = one->next_listed_;
  return one == nullptr ? nullptr : one->shared_from_this();
}

/// Of the upper bits of a product, which depend on all of the factors' (Knuth's multiplicative hashing).
std::size_t call_stops::bucket_of(const call_stop::origin& of) const noexcept {
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;
  const std::uint64_t key = (reinterpret_cast<std::uintptr_t>(of.from) >> 4) * golden + of.call;
  return static_cast<std::size_t>((key * golden) >> 32) & (buckets_.size() - 1);
}

/// mutex_ is held.
void call_stops::push(call_stop& one) noexcept {
  call_stop*& first = buckets_[bucket_of(one.of())];
  one.next_listed_ = first;
  first = &one;
}

/// As many buckets as calls, at least. mutex_ is held.
void call_stops::grow() {
  std::vector<call_stop*> before(std::max(min_buckets, 2 * buckets_.size()), nullptr);
  before.swap(buckets_);
  for (call_stop* one : before) {
    while (one != nullptr) push(*std::exchange(one, one->next_listed_));
  }
}

void call_stops::detach_after_fork() noexcept {
  base::renew(mutex_);
  for (call_stop* one : buckets_) {
    for (; one != nullptr; one = one->next_listed_) one->detach_after_fork();
  }
}

std::size_t call_stops::running() const {
  std::lock_guard guard(mutex_);
  return count_;
}

}  // namespace ham::detail
