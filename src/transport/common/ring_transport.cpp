// Hot rings, armed rings and the bell.
#include "transport/common/ring_transport.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/clock.hpp"

namespace ham::inline v1::transport {

using attention = ring_endpoint::attention;

namespace {

constexpr std::int64_t blind_sleep_ns = 1'000'000;    // where a frame may come without waking anybody
constexpr std::uint64_t frames_between_sweeps = 256;  // at the clock, of a node that is never idle
constexpr unsigned polls_between_visits = 8;          // of rings that another thread polls, too
constexpr unsigned polls_of_one_ring = 4;             // for one that the runtime wants: each is a load and a comparison

}  // namespace

ring_transport::ring_transport(bell& own, int event_fd, observer& to)
    : bell_(own), event_fd_(event_fd), event_(event_fd), observer_(to), orders_senders_(base::register_heavy_fence()) {
  bell_.orders_senders.store(orders_senders_ ? 1 : 0, std::memory_order_seq_cst);
}

void ring_transport::adopt(std::unique_ptr<ring_endpoint> endpoint) {
  ring_endpoint& one = *endpoint;
  one.medium = name();
  one.take_stops(bell_);
  observer_.on_connected(one);
  pending_.add(std::move(endpoint));
  wake();
}

void ring_transport::lose_when_empty(node_t peer, std::string reason) {
  {
    std::lock_guard guard(mutex_);
    ended_.push_back({peer, std::move(reason)});
    any_ended_.store(true, std::memory_order_release);
  }
  wake();
}

/// Those who still have something here are looked at again at the next poll.
void ring_transport::report_ended() {
  std::vector<ended_peer> empty;
  {
    std::lock_guard guard(mutex_);
    std::erase_if(ended_, [&](ended_peer& one) {
      const std::size_t place = place_of(one.node);
      ring_endpoint* const from = place < by_place_.size() ? by_place_[place] : nullptr;
      if (from != nullptr && from->peer() == one.node && from->state() == endpoint_state::open) {
        const ring_endpoint::reading_alone alone(*from);
        if (!from->reader().empty()) {
          promote(*from);
          return false;
        }
      }
      empty.push_back(std::move(one));
      return true;
    });
    any_ended_.store(!ended_.empty(), std::memory_order_relaxed);
    if (!ended_.empty()) bell_.attention.store(1, std::memory_order_relaxed);
  }
  for (const ended_peer& one : empty) observer_.on_lost(one.node, one.reason);
}

endpoint* ring_transport::poll(frame& out, unsigned polls) {
  if (bell_.attention.load(std::memory_order_relaxed) != 0) [[unlikely]]
    answer_bell();
  if (hot_.size() == 1 && arming_.empty() && hot_.front()->shared() == nullptr) [[likely]] {
    ring_endpoint& only = *hot_.front();
    ring_reader& reader = only.reader();
    reader.give_back();
    out.at_once = !reader.empty();
    if (!out.at_once && (polls == 1 || !reader.spin(polls * polls_of_one_ring))) return nullptr;
    return look_at(only, out);
  }
  if (hot_.empty() && arming_.empty()) return nullptr;
  // Whoever waits there polls itself, and has to fetch the line again after each poll of this thread.
  const bool visits_attended = polls == 1 || ++visits_ % polls_between_visits == 0;
  attended_left_out_ = !visits_attended;
  for (out.at_once = true; polls != 0; --polls) {
    if (endpoint* found = look_around(out)) return found;
    out.at_once = false;
  }
  return nullptr;
}

/// One look at each hot ring and at one that is arming.
endpoint* ring_transport::look_around(frame& out) {
  if (streak_ >= 64) {  // the others get their turn, also those that have not rung the bell
    streak_ = 0;
    ++cursor_;
    for (std::size_t i = 0; i < arming_.size(); ++i) {
      if (endpoint* found = poll_arming(out)) return found;
    }
  }
  const std::size_t count = hot_.size();
  std::size_t at = cursor_;
  for (std::size_t i = 0; i < count; ++i, ++at) {
    if (at >= hot_.size()) at = 0;
    if (hot_[at]->attended()) [[unlikely]] {
      if (attended_left_out_) continue;
      hot_[at]->leave_to_poll();  // whoever waits there, if anybody still does, says so again
    }
    if (endpoint* found = look_at(*hot_[at], out)) {
      ++streak_;
      cursor_ = at;
      return found;
    }
    if (hot_.size() != count) return nullptr;  // a broken one was dropped
  }
  return arming_.empty() ? nullptr : poll_arming(out);
}

endpoint* ring_transport::look_at(ring_endpoint& one, frame& out) {
  if (one.poll(out)) {
    one.last_hit = ++hits_;
    if (hits_ % frames_between_sweeps == 0 && look_at_all_ns_ != base::never_ns) [[unlikely]]
      look_at_all();
    return &one;
  }
  if (one.malformed()) [[unlikely]]
    drop(one);
  return nullptr;
}

endpoint* ring_transport::poll_arming(frame& out) {
  if (++arming_cursor_ >= arming_.size()) arming_cursor_ = 0;
  ring_endpoint& one = *arming_[arming_cursor_];
  {
    const ring_endpoint::reading_alone alone(one);
    if (one.reader().empty()) return nullptr;
  }
  promote(one);
  return look_at(one, out);
}

void ring_transport::answer_bell() {
  bell_.attention.exchange(0, std::memory_order_seq_cst);
  leaving_.clear();
  if (pending_.any()) adopt_pending();
  if (any_ended_.load(std::memory_order_acquire)) report_ended();
  const std::size_t words = (by_place_.size() + 63) / 64;
  for (std::size_t word = 0; word < words; ++word) {
    if (bell_.bits[word].load(std::memory_order_relaxed) == 0) continue;
    std::uint64_t set = bell_.bits[word].exchange(0, std::memory_order_acquire);
    for (; set != 0; set &= set - 1) {
      const std::size_t place = word * 64 + static_cast<std::size_t>(__builtin_ctzll(set));
      if (place < by_place_.size() && by_place_[place] != nullptr) promote(*by_place_[place]);
    }
  }
}

/// As if every bell had rung that may have been silenced. No more often than it has to be.
void ring_transport::look_at_all() {
  const std::int64_t now = base::now_ns();
  if (now - looked_at_all_ns_ < look_at_all_ns_) return;
  looked_at_all_ns_ = now;
  if (pending_.any()) adopt_pending();
  if (any_ended_.load(std::memory_order_acquire)) report_ended();
  for (const auto& one : endpoints_) {
    if (one->watched != attention::cold) continue;
    const ring_endpoint::reading_alone alone(*one);
    if (!one->reader().empty()) promote(*one);
  }
}

void ring_transport::adopt_pending() {
  for (auto& one : pending_.take()) {
    if (one->state() != endpoint_state::open) {  // forgotten before it was taken in
      leaving_.push_back(std::move(one));
      continue;
    }
    const std::size_t place = place_of(one->peer());
    if (by_place_.size() <= place) by_place_.resize(place + 1);
    by_place_[place] = one.get();
    promote(*one);
    endpoints_.push_back(std::move(one));
  }
  leaving_.reserve(endpoints_.size());  // to forget needs no memory
}

/// It stays until the next poll: a frame of it may not have been released yet.
void ring_transport::forget(endpoint& with) noexcept {
  const auto found =
      std::find_if(endpoints_.begin(), endpoints_.end(), [&](const auto& one) { return one.get() == &with; });
  if (found == endpoints_.end()) return;
  ring_endpoint& one = **found;
  if (const auto memory = one.memory()) memory->abandon();
  one.clear_stop_words();
  std::erase(hot_, &one);
  std::erase(arming_, &one);
  one.watched = attention::cold;
  if (by_place_[place_of(one.peer())] == &one) by_place_[place_of(one.peer())] = nullptr;
  leaving_.push_back(std::move(*found));
  endpoints_.erase(found);
  bell_.attention.store(1, std::memory_order_relaxed);  // the next poll handles it
}

void ring_transport::promote(ring_endpoint& one) {
  if (one.watched == attention::hot || one.state() != endpoint_state::open) return;
  if (one.watched == attention::arming) std::erase(arming_, &one);
  one.watched = attention::hot;
  one.last_hit = ++hits_;
  const ring_endpoint::reading_alone alone(one);
  one.reader().arm(false);
  hot_.push_back(&one);
  if (hot_.size() > max_hot) cool_oldest();
}

/// Rings that others poll cost next to nothing here, and nobody rings for them.
void ring_transport::cool_oldest() {
  const auto attended = [](const ring_endpoint* ring) { return ring->attended(); };
  if (hot_.size() - static_cast<std::size_t>(std::count_if(hot_.begin(), hot_.end(), attended)) <= max_hot) return;
  const auto oldest = std::min_element(hot_.begin(), hot_.end(), [](auto* a, auto* b) {
    return std::pair(a->attended(), a->last_hit) < std::pair(b->attended(), b->last_hit);
  });
  ring_endpoint& one = **oldest;
  hot_.erase(oldest);
  {
    const ring_endpoint::reading_alone alone(one);
    one.reader().arm(true);
  }
  one.watched = attention::arming;
  arming_.push_back(&one);
  if (arming_.size() > arming_limit_) settle_arming();
}

/// Whether every frame that was sent before a ring was armed can be seen now.
bool ring_transport::order_senders() noexcept {
  if (base::heavy_fence() || !orders_senders_) return true;
  bell_.orders_senders.store(0, std::memory_order_relaxed);  // for those that connect from now on
  lost_order_ = true;
  return false;
}

std::int64_t ring_transport::max_sleep_ns() const noexcept {
  return lost_order_ || !event_.wakes() ? blind_sleep_ns : look_at_all_ns_;
}

void ring_transport::settle_arming() {
  if (!order_senders()) {
    arming_limit_ = arming_.size() + max_arming;
    return;
  }
  std::erase_if(arming_, [](ring_endpoint* one) {
    const ring_endpoint::reading_alone alone(*one);
    if (!one->reader().empty()) return false;  // has something: stays where it is looked at in turn
    one->watched = attention::cold;
    return true;
  });
  arming_limit_ = arming_.size() + max_arming;
}

void ring_transport::drop(ring_endpoint& one) {
  std::erase(hot_, &one);
  std::erase(arming_, &one);
  one.watched = attention::cold;
  if (one.state() != endpoint_state::open) return;
  one.close("it sent bytes that break the wire format");
  observer_.on_broken(one.peer(), one.reason());
}

/// Keeps all threads that read by themselves from doing so while it lives.
class ring_transport::readers_kept_out {
 public:
  explicit readers_kept_out(const std::vector<std::unique_ptr<ring_endpoint>>& endpoints) noexcept : of_(endpoints) {
    for (const auto& one : of_)
      if (one->shared() != nullptr) one->shared()->lock();
  }
  readers_kept_out(const readers_kept_out&) = delete;
  readers_kept_out& operator=(const readers_kept_out&) = delete;
  ~readers_kept_out() {
    for (const auto& one : of_)
      if (one->shared() != nullptr) one->shared()->unlock();
  }

 private:
  const std::vector<std::unique_ptr<ring_endpoint>>& of_;
};

bool ring_transport::arm() {
  if (look_at_all_ns_ != base::never_ns) look_at_all();
  const readers_kept_out alone(endpoints_);
  for (ring_endpoint* one : hot_) one->reader().arm(true);
  if (++sleeps_ == 0) ++sleeps_;
  bell_.sleeping.store(sleeps_, std::memory_order_seq_cst);
  asleep(true);
  order_senders();
  bool quiet = bell_.attention.load(std::memory_order_seq_cst) == 0;
  for (ring_endpoint* one : hot_) quiet = quiet && one->reader().empty();
  for (ring_endpoint* one : arming_) quiet = quiet && one->reader().empty();
  if (!quiet) {
    for (ring_endpoint* one : hot_) one->reader().arm(false);
    disarm();
    return false;
  }
  for (ring_endpoint* one : hot_) one->watched = attention::cold;
  for (ring_endpoint* one : arming_) one->watched = attention::cold;
  hot_.clear();
  arming_.clear();
  arming_limit_ = max_arming;
  return true;
}

void ring_transport::disarm() noexcept {
  bell_.sleeping.store(0, std::memory_order_relaxed);
  asleep(false);
  event_.drain();
}

void ring_transport::wake() noexcept {
  bell_.attention.store(1, std::memory_order_seq_cst);
  base::ring_event(event_fd_);
}

}  // namespace ham::transport
