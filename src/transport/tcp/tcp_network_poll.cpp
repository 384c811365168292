// Receiving: one busy socket is read directly, many through epoll, so that quiet ones cost nothing.
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>

#include "transport/tcp/tcp_network.hpp"

namespace ham::transport::tcp {
namespace {

constexpr unsigned longest_streak = 64;  // frames of one peer before the others get their turn
constexpr unsigned looks_at_hot = 4;     // of which all but one skip the others
constexpr int most_ready = 64;

}  // namespace

endpoint* tcp_network::poll(frame& out, unsigned) {
  if (has_fresh_.load(std::memory_order_acquire)) [[unlikely]]
    take_fresh();
  if (polled_.size() == 1) [[likely]]
    return poll_only(out);
  return polled_.empty() ? nullptr : poll_many(out);
}

void tcp_network::take_fresh() {
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

endpoint* tcp_network::poll_only(frame& out) {
  tcp_endpoint* const only = polled_.front();
  if (!only->poll(out)) return nullptr;
  // Nobody sleeps on it: without epoll an arrival costs the kernel less.
  if (++awake_streak_ == longest_streak && unlisted_ == nullptr) {
    only->take_out(sockets_.get(), false);
    unlisted_ = only;
  }
  return only;
}

/// Every endpoint is in the epoll again.
void tcp_network::list_all() {
  awake_streak_ = 0;
  if (unlisted_ != nullptr) std::exchange(unlisted_, nullptr)->list_in(sockets_.get());
}

endpoint* tcp_network::poll_many(frame& out) {
  if (hot_ != nullptr && streak_ < longest_streak && hot_->poll_buffered(out)) {
    ++streak_;
    return hot_;
  }
  if (streak_ >= longest_streak) find_ready();
  streak_ = 0;
  if (hot_ != nullptr && hot_->has_more()) ready_.push_back(hot_);
  if (hot_ != nullptr && hot_->state() != endpoint_state::open) hot_ = nullptr;
  if (endpoint* const found = poll_ready(out)) return found;
  push_gathered();
  if (hot_ != nullptr && ++looks_ % looks_at_hot != 0) return hot_->poll(out) ? hot_ : nullptr;
  find_ready();
  return poll_ready(out);
}

endpoint* tcp_network::poll_ready(frame& out) {
  while (!ready_.empty()) {
    tcp_endpoint* const next = ready_.front();
    ready_.erase(ready_.begin());
    if (!next->poll(out)) continue;
    hot_ = next;
    return next;
  }
  return nullptr;
}

void tcp_network::find_ready() {
  epoll_event events[most_ready];
  const int count = ::epoll_wait(sockets_.get(), events, most_ready, 0);
  for (int i = 0; i < count; ++i) {
    auto* const one = static_cast<tcp_endpoint*>(events[i].data.ptr);
    if (one != nullptr && std::find(ready_.begin(), ready_.end(), one) == ready_.end()) ready_.push_back(one);
  }
}

void tcp_network::push_gathered() {
  for (tcp_endpoint* const one : polled_) {
    if (one->gathering()) one->push();
  }
}

bool tcp_network::arm() {
  if (has_fresh_.load(std::memory_order_acquire)) take_fresh();
  list_all();
  push_gathered();
  if (hot_ != nullptr && hot_->has_more()) return false;
  if (polled_.size() == 1) return !polled_.front()->has_more();
  return std::none_of(ready_.begin(), ready_.end(), [](tcp_endpoint* one) { return one->has_more(); });
}

void tcp_network::disarm() noexcept {
  looks_ = looks_at_hot - 1;  // the next look is at all
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = ::read(event_.get(), &count, sizeof count);
}

void tcp_network::wake() noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(event_.get(), &one, sizeof one);
}

}  // namespace ham::transport::tcp
