// Turns of looking, and the timer.
#include "transport/common/polled_transport.hpp"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "base/event_fds.hpp"

namespace ham::inline v1::transport {
namespace {

constexpr unsigned max_streak = 64;             // of one peer, before the others get a look
constexpr std::int64_t max_gap_ns = 1'000'000;  // between arrivals that is waited for awake

}  // namespace

polled_transport::polled_transport(observer& to, polling_interval interval)
    : observer_(to),
      interval_(interval),
      next_sleep_(interval.shortest),
      event_(base::make_event()),
      timer_(base::make_timer()),
      either_(base::make_epoll()) {
  base::watch(either_.get(), event_.get(), EPOLLIN, nullptr);
  base::watch(either_.get(), timer_.get(), EPOLLIN, nullptr);
}

void polled_transport::adopt(std::unique_ptr<polled_endpoint> endpoint) {
  polled_endpoint& one = *endpoint;
  one.medium = name();
  observer_.on_connected(one);
  pending_.add(std::move(endpoint));
  wake();
}

void polled_transport::take_adopted() {
  leaving_.clear();
  for (auto& one : pending_.take()) {
    if (one->state() != endpoint_state::open) {  // forgotten before it was taken in
      forgotten(one->peer());
      continue;
    }
    open_.push_back(one.get());
    endpoints_.push_back(std::move(one));
  }
  leaving_.reserve(endpoints_.size());  // to forget needs no memory
}

/// It stays until the next poll: a frame of it may not have been released yet.
void polled_transport::forget(endpoint& with) noexcept {
  const auto found =
      std::find_if(endpoints_.begin(), endpoints_.end(), [&](const auto& one) { return one.get() == &with; });
  if (found == endpoints_.end()) return;
  if (const auto memory = with.memory()) memory->abandon();
  std::erase(open_, found->get());
  if (last_heard_ == &with) last_heard_ = nullptr;
  leaving_.push_back(std::move(*found));
  endpoints_.erase(found);
  pending_.look();  // the next poll sees to it
  forgotten(with.peer());
}

endpoint* polled_transport::poll(frame& out, unsigned polls) {
  if (pending_.any()) [[unlikely]]
    take_adopted();
  if (open_.empty()) return nullptr;
  if (!polls_are_cheap()) polls = worth_a_look() ? 1 : 0;
  for (; polls != 0 && !open_.empty(); --polls) {
    if (endpoint* const found = look_around(out)) {
      note_arrival();
      return found;
    }
  }
  return nullptr;
}

void polled_transport::note_arrival() {
  next_sleep_ = interval_.shortest;
  backed_off_ = false;
  const std::int64_t now = base::now_ns();
  const std::int64_t gap = now - std::exchange(last_arrival_ns_, now);
  usual_gap_ns_ = gap > max_gap_ns ? usual_gap_ns_ / 2 : std::max(gap, usual_gap_ns_ - usual_gap_ns_ / 8);
}

/// Who has slept the longest time and found nothing polls each peer once more and sleeps again: remote accesses in
/// vain are what an idle node would spend its time with.
bool polled_transport::worth_a_look() {
  if (!backed_off_) return true;
  if (polls_since_backed_off_ < open_.size()) {
    ++polls_since_backed_off_;
    return true;
  }
  bool active = false;
  for (polled_endpoint* const one : open_) active = one->take_active() || active;
  if (!active) return false;
  backed_off_ = false;
  next_sleep_ = interval_.shortest;
  return true;
}

endpoint* polled_transport::look_around(frame& out) {
  if (open_.size() == 1) return look_at(*open_.front(), out);
  if (last_heard_ != nullptr && ++streak_ < max_streak) {
    if (endpoint* const found = look_at(*last_heard_, out)) return found;
  }
  streak_ = 0;
  if (open_.empty()) return nullptr;
  if (++cursor_ >= open_.size()) cursor_ = 0;
  return look_at(*open_[cursor_], out);
}

endpoint* polled_transport::look_at(polled_endpoint& one, frame& out) {
  if (one.state() == endpoint_state::open && one.poll(out)) [[likely]] {
    last_heard_ = &one;
    return &one;
  }
  const bool closed = one.state() != endpoint_state::open;
  if (!closed && !one.malformed() && !one.failed()) return nullptr;
  std::erase(open_, &one);
  if (last_heard_ == &one) last_heard_ = nullptr;
  if (closed) return nullptr;
  if (one.malformed()) {
    one.close("it sent bytes that break the wire format");
    observer_.on_broken(one.peer(), one.reason());
  } else {
    observer_.on_lost(one.peer(), one.failure());
  }
  return nullptr;
}

bool polled_transport::quiet() {
  if (pending_.any()) return false;
  return std::all_of(open_.begin(), open_.end(), [](const polled_endpoint* one) {
    return one->state() != endpoint_state::open || (one->empty() && !one->failed());
  });
}

bool polled_transport::arm() {
  if (base::now_ns() - last_arrival_ns_ < usual_gap_ns_ + usual_gap_ns_ / 2) return false;
  if (!quiet()) {
    // What has come since the last poll must be found by the next one: nothing else ends the wait.
    backed_off_ = false;
    return false;
  }
  const auto ns = next_sleep_.count();
  const itimerspec once{{}, {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)}};
  ::timerfd_settime(timer_.get(), 0, &once, nullptr);
  backed_off_ = next_sleep_ == interval_.longest;
  polls_since_backed_off_ = 0;
  next_sleep_ = std::min(next_sleep_ * 2, interval_.longest);
  return true;
}

void polled_transport::disarm() noexcept {
  const itimerspec never{};
  ::timerfd_settime(timer_.get(), 0, &never, nullptr);  // which takes back what it has told
  base::drain_event(event_.get());
}

void polled_transport::wake() noexcept { base::signal_event(event_.get()); }

}  // namespace ham::transport
