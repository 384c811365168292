// Whoever has shown nothing yet is the first to go when others want in.
#include "transport/tcp/reception.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "base/clock.hpp"
#include "transport/tcp/socket.hpp"

namespace ham::transport::tcp {
namespace {

constexpr int most_accepts = 16;  // before the ones that are there get their turn
constexpr std::int64_t pause_ns = 50'000'000;

}  // namespace

reception::reception(base::unique_fd listening, std::shared_ptr<const tls_context> tls,
                     std::chrono::milliseconds timeout)
    : listening_(std::move(listening)), tls_(std::move(tls)), timeout_(timeout), retry_ns_(0) {}

int reception::fd() {
  if (owner_ == ::getpid()) return epoll_.get();
  guests_.clear();
  epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_) throw config_error("cannot wait for connections; raise the limit of open files (ulimit -n)");
  owner_ = ::getpid();
  epoll_event interest{EPOLLIN, {.ptr = nullptr}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, listening_.get(), &interest);
  return epoll_.get();
}

std::int64_t reception::next_ns() const noexcept {
  std::int64_t next = retry_ns_ != 0 ? retry_ns_ : base::never_ns;
  if (!guests_.empty()) next = std::min(next, guests_.front().deadline_ns);
  return next;
}

void reception::turn(const std::function<void(connection, const hello&)>& greeted) {
  epoll_event events[most_half_open + 1];
  const int count = ::epoll_wait(fd(), events, most_half_open + 1, 0);
  bool knocking = retry_ns_ != 0;
  for (int i = 0; i < count; ++i) {
    if (events[i].data.ptr == nullptr) {
      knocking = true;
      continue;
    }
    const auto who =
        std::find_if(guests_.begin(), guests_.end(), [&](const guest& one) { return &one == events[i].data.ptr; });
    if (who != guests_.end() && serve(who, greeted)) guests_.erase(who);
  }
  const std::int64_t now = base::now_ns();
  while (!guests_.empty() && guests_.front().deadline_ns <= now) guests_.pop_front();
  if (knocking && now >= retry_ns_) accept_some();
}

void reception::accept_some() {
  for (int i = 0; i < most_accepts; ++i) {
    base::unique_fd socket(::accept4(listening_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) {
      const bool exhausted = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
      retry_ns_ = exhausted ? base::now_ns() + pause_ns : 0;
      epoll_event interest{exhausted ? 0U : static_cast<std::uint32_t>(EPOLLIN), {.ptr = nullptr}};
      ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, listening_.get(), &interest);
      return;
    }
    if (guests_.size() == most_half_open) make_room();
    tune(socket.get(), timeout_);
    const std::int64_t deadline = base::now_ns() + std::chrono::nanoseconds(timeout_).count();
    guests_.push_back({handshake(std::move(socket), tls_), deadline});
    listen_for(guests_.back(), POLLIN);
  }
}

void reception::make_room() {
  const auto silent =
      std::find_if(guests_.begin(), guests_.end(), [](const guest& one) { return one.on_the_way.silent(); });
  guests_.erase(silent != guests_.end() ? silent : guests_.begin());
}

void reception::listen_for(guest& who, short events) {
  if (who.registered == events) return;
  epoll_event interest{static_cast<std::uint32_t>(events), {.ptr = &who}};
  ::epoll_ctl(epoll_.get(), who.registered == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, who.on_the_way.socket(), &interest);
  who.registered = events;
}

bool reception::serve(place who, const std::function<void(connection, const hello&)>& greeted) {
  switch (who->on_the_way.step()) {
    case handshake::status::pending: listen_for(*who, who->on_the_way.wants()); return false;
    case handshake::status::failed: return true;
    case handshake::status::greeted: break;
  }
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, who->on_the_way.socket(), nullptr);
  greeted(who->on_the_way.take(), who->on_the_way.theirs());
  return true;
}

}  // namespace ham::transport::tcp
