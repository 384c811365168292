// Who has sent nothing yet is the first to be dropped when others connect.
#include "transport/tcp/acceptor.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <exception>

#include "base/clock.hpp"
#include "base/event_fds.hpp"
#include "base/log.hpp"
#include "base/refused_call.hpp"
#include "transport/tcp/socket.hpp"

namespace ham::inline v1::transport::tcp {
namespace {

constexpr int max_accepts = 16;  // before the ones that are there get their turn
constexpr std::int64_t pause_ns = 50'000'000;

}  // namespace

acceptor::acceptor(base::unique_fd listening, std::shared_ptr<const tls_context> tls, std::chrono::milliseconds timeout)
    : listening_(std::move(listening)), tls_(std::move(tls)), timeout_(timeout), retry_ns_(0) {}

int acceptor::fd() {
  if (owner_ == ::getpid()) return epoll_.get();
  half_open_.clear();
  epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_) throw config_error("cannot wait for connections; raise the limit of open files (ulimit -n)");
  owner_ = ::getpid();
  base::watch(epoll_.get(), listening_.get(), EPOLLIN, nullptr);
  return epoll_.get();
}

std::int64_t acceptor::next_ns() const noexcept {
  std::int64_t next = retry_ns_ != 0 ? retry_ns_ : base::never_ns;
  if (!half_open_.empty()) next = std::min(next, half_open_.front().deadline_ns);
  return next;
}

void acceptor::turn(const std::function<void(connection, const hello&)>& greeted) {
  epoll_event events[max_half_open + 1];
  const int count = ::epoll_wait(fd(), events, max_half_open + 1, 0);
  bool waiting = retry_ns_ != 0;
  for (int i = 0; i < count; ++i) {
    if (events[i].data.ptr == nullptr) {
      waiting = true;
      continue;
    }
    const auto who = std::find_if(half_open_.begin(), half_open_.end(),
                                  [&](const half_open& one) { return &one == events[i].data.ptr; });
    if (who != half_open_.end() && serve(who, greeted)) half_open_.erase(who);
  }
  const std::int64_t now = base::now_ns();
  while (!half_open_.empty() && half_open_.front().deadline_ns <= now) half_open_.pop_front();
  if (waiting && now >= retry_ns_) accept_some();
}

void acceptor::accept_some() {
  for (int i = 0; i < max_accepts; ++i) {
    base::unique_fd socket(::accept4(listening_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) {
      const int why = errno;
      const bool no_descriptors = why == EMFILE || why == ENFILE;
      const bool refused = base::is_refused(why);
      const bool exhausted = no_descriptors || refused || why == ENOBUFS || why == ENOMEM;
      if (exhausted && retry_ns_ == 0) {  // once, until there is what is missing
        base::log("tcp", base::log_level::warning, "cannot accept connections at %s for now (%s)%s",
                  local_address(listening_.get()).text().c_str(), error_text(why).c_str(),
                  no_descriptors ? "; raise the limit of open files (ulimit -n)"
                  : refused ? "; allow the system call accept4, which a filter (seccomp) or a firewall rule forbids"
                            : "");
      }
      retry_ns_ = exhausted ? base::now_ns() + pause_ns : 0;
      base::change_watch(epoll_.get(), listening_.get(), exhausted ? 0U : EPOLLIN, nullptr);
      return;
    }
    if (half_open_.size() == max_half_open) drop_one();
    tune(socket.get(), timeout_);
    const std::int64_t deadline = base::now_ns() + std::chrono::nanoseconds(timeout_).count();
    try {
      half_open_.push_back({handshake(std::move(socket), tls_), deadline});
    } catch (const std::exception&) {  // no memory for it: it is hung up on
      continue;
    }
    watch_for(half_open_.back(), POLLIN);
  }
}

void acceptor::drop_one() {
  const auto silent =
      std::find_if(half_open_.begin(), half_open_.end(), [](const half_open& one) { return one.shaking.silent(); });
  half_open_.erase(silent != half_open_.end() ? silent : half_open_.begin());
}

void acceptor::watch_for(half_open& who, short events) {
  if (who.registered == events) return;
  (who.registered == 0 ? base::watch : base::change_watch)(epoll_.get(), who.shaking.socket(),
                                                           static_cast<std::uint32_t>(events), &who);
  who.registered = events;
}

bool acceptor::serve(place who, const std::function<void(connection, const hello&)>& greeted) {
  switch (who->shaking.step()) {
    case handshake::status::pending: watch_for(*who, who->shaking.wants()); return false;
    case handshake::status::failed: return true;
    case handshake::status::greeted: break;
  }
  base::unwatch(epoll_.get(), who->shaking.socket());
  try {
    greeted(who->shaking.take(), who->shaking.theirs());
  } catch (const std::exception& problem) {  // it goes, and the others stay
    base::log("tcp", base::log_level::warning, "a connection is dropped: %s", problem.what());
  }
  return true;
}

}  // namespace ham::transport::tcp
