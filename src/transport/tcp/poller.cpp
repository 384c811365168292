// Which endpoint is polled next.
#include "transport/tcp/poller.hpp"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/event_fds.hpp"

namespace ham::inline v1::transport::tcp {
namespace {

constexpr unsigned max_streak = 64;   // frames of one peer before the others get their turn
constexpr unsigned polls_of_hot = 4;  // of which all but one skip the others
constexpr int max_ready = 64;

}  // namespace

poller::poller() : sockets_(base::make_epoll()), event_(base::make_event()) {
  base::watch(sockets_.get(), event_.get(), EPOLLIN, nullptr);
}

void poller::add(tcp_endpoint& fresh) {
  fresh.entry().list_in(sockets_.get());
  {
    std::lock_guard guard(mutex_);
    fresh_.push_back(&fresh);
    has_fresh_.store(true, std::memory_order_release);
  }
  wake();
}

void poller::forget(const std::shared_ptr<tcp_endpoint>& which) {
  tcp_endpoint* const one = which.get();
  mute(*one);
  std::erase(polled_, one);
  std::erase(ready_, one);
  if (hot_ == one) hot_ = nullptr;
  if (unlisted_ == one) unlisted_ = nullptr;
  leaving_.push_back(which);
  std::lock_guard guard(mutex_);
  std::erase(fresh_, one);
  has_fresh_.store(true, std::memory_order_release);  // the next poll lets go of it
}

endpoint* poller::poll(frame& out) {
  if (has_fresh_.load(std::memory_order_acquire)) [[unlikely]]
    take_fresh();
  if (polled_.size() == 1) [[likely]]
    return poll_only(out);
  return polled_.empty() ? nullptr : poll_many(out);
}

void poller::take_fresh() {
  list_all();
  leaving_.clear();
  std::lock_guard guard(mutex_);
  polled_.insert(polled_.end(), fresh_.begin(), fresh_.end());
  ready_.insert(ready_.end(), fresh_.begin(), fresh_.end());
  fresh_.clear();
  has_fresh_.store(false, std::memory_order_relaxed);
  std::erase_if(polled_, [&](tcp_endpoint* one) {
    if (one->state() == endpoint_state::open) return false;
    std::erase(ready_, one);
    if (hot_ == one) hot_ = nullptr;
    return true;
  });
}

endpoint* poller::poll_only(frame& out) {
  tcp_endpoint* const only = polled_.front();
  if (!only->poll(out)) return nullptr;
  // Nobody sleeps on it: without epoll an arrival costs the kernel less.
  if (++only_streak_ == max_streak && unlisted_ == nullptr) {
    only->entry().take_out(sockets_.get(), false);
    unlisted_ = only;
  }
  return only;
}

/// Every endpoint is in the epoll again.
void poller::list_all() {
  only_streak_ = 0;
  if (unlisted_ != nullptr) std::exchange(unlisted_, nullptr)->entry().list_in(sockets_.get());
}

endpoint* poller::poll_many(frame& out) {
  if (hot_ != nullptr && streak_ < max_streak && hot_->poll_buffered(out)) {
    ++streak_;
    return hot_;
  }
  if (streak_ >= max_streak) find_ready();
  streak_ = 0;
  if (hot_ != nullptr && hot_->receiver().has_more()) ready_.push_back(hot_);
  if (hot_ != nullptr && hot_->state() != endpoint_state::open) hot_ = nullptr;
  if (endpoint* const found = poll_ready(out)) return found;
  push_gathered();
  if (hot_ != nullptr && ++polls_ % polls_of_hot != 0) return hot_->poll(out) ? hot_ : nullptr;
  find_ready();
  return poll_ready(out);
}

endpoint* poller::poll_ready(frame& out) {
  for (std::size_t left = ready_.size(); left > 0; --left) {
    tcp_endpoint* const next = ready_.front();
    ready_.erase(ready_.begin());
    if (next->poll(out)) {
      hot_ = next;
      return next;
    }
    if (next->receiver().stopped_early()) ready_.push_back(next);
  }
  return nullptr;
}

void poller::find_ready() {
  epoll_event events[max_ready];
  const int count = ::epoll_wait(sockets_.get(), events, max_ready, 0);
  for (int i = 0; i < count; ++i) {
    auto* const one = static_cast<tcp_endpoint*>(events[i].data.ptr);
    if (one != nullptr && std::find(ready_.begin(), ready_.end(), one) == ready_.end()) ready_.push_back(one);
  }
}

void poller::push_gathered() {
  for (tcp_endpoint* const one : polled_) {
    if (one->sender().gathering()) one->sender().push();
  }
}

bool poller::arm() {
  if (has_fresh_.load(std::memory_order_acquire)) take_fresh();
  list_all();
  push_gathered();
  if (hot_ != nullptr && hot_->receiver().has_more()) return false;
  if (polled_.size() == 1) return !polled_.front()->receiver().has_more();
  return std::none_of(ready_.begin(), ready_.end(), [](tcp_endpoint* one) { return one->receiver().has_more(); });
}

void poller::disarm() noexcept {
  polls_ = polls_of_hot - 1;  // the next poll is of all
  base::drain_event(event_.get());
}

void poller::wake() noexcept { base::signal_event(event_.get()); }

}  // namespace ham::transport::tcp
