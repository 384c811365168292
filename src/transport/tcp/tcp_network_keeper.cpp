// The thread that connects, accepts, sends on when a socket can be written again, and notices losses.
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.hpp"
#include "transport/tcp/tcp_attempt.hpp"

namespace ham::transport::tcp {
namespace {

constexpr int most_events = 64;
constexpr std::int64_t burial_look_ns = 5'000'000;
constexpr std::int64_t farewell_patience_ns = 300'000'000;

}  // namespace

void tcp_network::ring_keeper() noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(keeper_event_.get(), &one, sizeof one);
}

void tcp_network::post(std::function<void()> what) {
  {
    std::lock_guard guard(mutex_);
    commands_.push_back(std::move(what));
  }
  ring_keeper();
}

void tcp_network::run_commands() {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = ::read(keeper_event_.get(), &count, sizeof count);
  std::vector<std::function<void()>> commands;
  {
    std::lock_guard guard(mutex_);
    commands.swap(commands_);
    if (stopping_ && stop_at_ns_ == 0) stop_at_ns_ = base::now_ns() + farewell_patience_ns;
  }
  for (const auto& command : commands) command();
}

std::int64_t tcp_network::next_ns() const {
  std::int64_t next = reception_->next_ns();
  for (const auto& [key, one] : attempts_)
    next = std::min({next, one->deadline_ns, one->again_ns != 0 ? one->again_ns : base::never_ns});
  if (!dying_.empty()) next = std::min(next, base::now_ns() + burial_look_ns);
  next = std::min(next, next_watch_ns_);
  if (stop_at_ns_ != 0) next = std::min(next, stop_at_ns_);
  return next;
}

void tcp_network::keep() {
  for (;;) {
    run_commands();
    const std::int64_t now = base::now_ns();
    look_after_the_dying(now);
    if (stop_at_ns_ != 0 && (dying_.empty() || now >= stop_at_ns_)) break;
    std::vector<attempt*> late;
    std::vector<attempt*> again;
    for (const auto& [key, one] : attempts_) {
      if (one->deadline_ns <= now)
        late.push_back(key);
      else if (one->again_ns != 0 && one->again_ns <= now)
        again.push_back(key);
    }
    for (attempt* const one : late)
      give_up(*one, one->crossed || one->refused || one->again_ns != 0 ? one->trouble : "it did not answer in time");
    for (attempt* const one : again) {
      one->again_ns = 0;
      try_next(*one);
    }
    if (watch_soon_.exchange(false) || now >= next_watch_ns_) watch_all(now);

    const std::int64_t next = next_ns();
    const std::int64_t left = next == base::never_ns ? -1 : std::max<std::int64_t>(0, next - base::now_ns());
    epoll_event events[most_events];
    const int wait_ms = left < 0 ? -1 : static_cast<int>(std::min<std::int64_t>(left / 1'000'000 + 1, 3'600'000));
    const int count = ::epoll_wait(keeper_epoll_.get(), events, most_events, wait_ms);
    for (int i = 0; i < count; ++i) {
      if (events[i].data.ptr != nullptr) handle(*static_cast<source*>(events[i].data.ptr), events[i].events);
    }
    if (stop_at_ns_ == 0) {
      reception_->turn([this](connection with, const hello& theirs) { welcome_guest(std::move(with), theirs); });
    }
  }
  attempts_.clear();
}

void tcp_network::handle(const source& what, std::uint32_t events) {
  if (what.what == source::kind::attempt) {
    // One of this round's earlier events may have ended it.
    auto* const which = const_cast<attempt*>(static_cast<const attempt*>(&what));
    if (attempts_.contains(which)) advance(*which);
    return;
  }
  tcp_endpoint& end = *static_cast<const peer_record&>(what).end;
  if ((events & EPOLLOUT) != 0 && end.writable()) wake();
  if ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) end.hung_up();
}

void tcp_network::watch_all(std::int64_t now) {
  next_watch_ns_ = base::never_ns;
  for (const shared_record& one : all_records()) {
    const std::int64_t left = one->end->watch_silence();
    if (left != base::never_ns) next_watch_ns_ = std::min(next_watch_ns_, now + left);
  }
}

void tcp_network::look_after_the_dying(std::int64_t now) {
  if (dying_.empty()) return;
  const auto buried = std::erase_if(dying_, [&](const shared_record& one) {
    if (!one->end->drain() && now < one->bury_ns) return false;
    ::epoll_ctl(keeper_epoll_.get(), EPOLL_CTL_DEL, one->end->socket(), nullptr);
    one->end->bury();
    {
      std::lock_guard guard(mutex_);
      one->buried = true;
      if (one->forgotten) peers_.erase(one->end->peer());
    }
    // Of a host whose connection was closed from this side nothing will be seen any more: it is as good as gone.
    if (one->end->peer() == 0 && stop_at_ns_ == 0) observer_.on_lost(0, one->end->reason());
    return true;
  });
  if (buried != 0) reap_lanes();
}

}  // namespace ham::transport::tcp
