// An attempt: its addresses, the handshake that is under way, and whether the peer asked to come again.
#include "transport/tcp/connector.hpp"

#include <poll.h>
#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <utility>

#include "base/clock.hpp"
#include "base/event_fds.hpp"
#include "base/log.hpp"
#include "base/thread.hpp"
#include "transport/tcp/socket.hpp"

namespace ham::inline v1::transport::tcp {
namespace {

/// The other side may have to start a process before it answers an invitation.
constexpr std::chrono::seconds invitation_timeout{10};

constexpr std::int64_t pause_before_next_ns = 50'000'000;
/// How long a server is come back to that hangs up, and greets nobody meanwhile. It hangs up on others as soon as it
/// has taken somebody; it greets that one when it has built what the job needs.
constexpr std::int64_t time_of_hang_ups_ns = 2'000'000'000;
/// A server that is full may be full of a job that ends just now.
constexpr std::int64_t timeout_if_full_ns = 2'000'000'000;
constexpr int max_attempt_events = 64;

std::uint32_t events_of(short wanted) noexcept { return wanted == POLLOUT ? EPOLLOUT : EPOLLIN; }

}  // namespace

std::optional<connection> connect_now(const socket_address& to, std::shared_ptr<const tls_context> key,
                                      const hello& mine, std::chrono::milliseconds timeout) {
  const std::int64_t deadline_ns = base::now_ns() + std::chrono::nanoseconds(timeout).count();
  std::string why;
  base::unique_fd socket = begin_connect(to, timeout, why);
  if (!socket) return std::nullopt;
  handshake going(std::move(socket), std::move(key), mine);
  for (;;) {
    const std::int64_t left = deadline_ns - base::now_ns();
    pollfd waiting{going.socket(), going.wants(), 0};
    if (left <= 0) return std::nullopt;
    if (::poll(&waiting, 1, static_cast<int>(left / 1'000'000 + 1)) < 0) {
      if (errno == EINTR) continue;  // the caller's thread may take signals
      return std::nullopt;
    }
    switch (going.step()) {
      case handshake::status::pending: continue;
      case handshake::status::failed: return std::nullopt;
      case handshake::status::greeted: return going.take();
    }
  }
}

struct connector::attempt {
  destination to;
  std::vector<socket_address> all;
  std::vector<socket_address> left;
  std::optional<handshake> shaking;
  std::int64_t timeout_ns = 0;
  std::int64_t deadline_ns = 0;
  std::string trouble;  // with the last address
  bool crossed = false;
  std::int64_t again_ns = 0;    // when to begin anew; 0: it is under way
  std::int64_t hung_up_ns = 0;  // first hang-up since the server has greeted somebody; 0: none
  bool refused = false;         // by a server that serves as many as it may
};

connector::connector(const limits& how, client& of)
    : limits_(how), client_(of), epoll_(base::make_epoll()), event_(base::make_event()) {
  base::watch(epoll_.get(), event_.get(), EPOLLIN, nullptr);
}

connector::~connector() { stop(); }

void connector::begin(destination where) {
  base::log("tcp", base::log_level::debug, "connects to %s for node %d", where.address.c_str(), where.peer);
  const host_port address = parse_address(where.address);
  auto fresh = std::make_unique<attempt>();
  fresh->to = std::move(where);
  if (is_numeric(address)) {
    fresh->left = resolve(address, false, fresh->trouble);
    hand_over(std::move(fresh));
    return;
  }
  // Asking for a name may take long: not on this thread.
  std::lock_guard guard(mutex_);
  if (stopping_) return;
  std::erase_if(resolvers_, [](resolver& one) {
    if (!one.over->load()) return false;
    one.thread.join();
    return true;
  });
  const auto over = std::make_shared<std::atomic<bool>>(false);
  auto thread = base::start_thread([this, address, over, waiting = std::move(fresh)]() mutable {
    waiting->left = resolve(address, false, waiting->trouble);
    hand_over(std::move(waiting));
    over->store(true);
  });
  resolvers_.push_back({std::move(thread), over});
}

void connector::stop() noexcept {
  std::vector<resolver> last;
  {
    std::lock_guard guard(mutex_);
    stopping_ = true;
    last.swap(resolvers_);
  }
  for (resolver& one : last) one.thread.join();
  attempts_.clear();
}

void connector::hand_over(std::unique_ptr<attempt> resolved) {
  {
    std::lock_guard guard(mutex_);
    resolved_.push_back(std::move(resolved));
  }
  base::signal_event(event_.get());
}

void connector::take_resolved() {
  base::drain_event(event_.get());
  std::vector<std::unique_ptr<attempt>> fresh;
  {
    std::lock_guard guard(mutex_);
    fresh.swap(resolved_);
  }
  for (std::unique_ptr<attempt>& one : fresh) begin_resolved(std::move(one));
}

void connector::begin_resolved(std::unique_ptr<attempt> one) noexcept {
  attempt& which = *one;
  try {
    const auto timeout = which.to.what == purpose::invite
                             ? std::max<std::chrono::milliseconds>(limits_.timeout, invitation_timeout)
                             : limits_.timeout;
    which.timeout_ns = std::chrono::nanoseconds(timeout).count();
    which.deadline_ns = base::now_ns() + which.timeout_ns;
    which.all = which.left;
    attempts_.emplace(&which, nullptr).first->second = std::move(one);
    try_next(which);
  } catch (const std::exception& problem) {
    drop(which, std::move(one), problem);
  }
}

/// There is no memory for it. `own`: unless attempts_ has it.
void connector::drop(attempt& which, std::unique_ptr<attempt> own, const std::exception& problem) noexcept {
  if (own == nullptr) {
    const auto found = attempts_.find(&which);
    if (found == attempts_.end()) return;  // its client has been told
    own = std::move(found->second);
    attempts_.erase(found);
  }
  try {
    client_.on_unreachable(own->to, problem.what());
  } catch (const std::exception&) {
    base::log("tcp", base::log_level::warning, "no memory left to say that node %d cannot be connected to",
              own->to.peer);
  }
}

template <class Act>
void connector::act_on(attempt& which, Act act) noexcept {
  try {
    act();
  } catch (const std::exception& problem) {
    drop(which, nullptr, problem);
  }
}

std::int64_t connector::next_ns() const {
  std::int64_t next = base::never_ns;
  for (const auto& [key, one] : attempts_)
    next = std::min({next, one->deadline_ns, one->again_ns != 0 ? one->again_ns : base::never_ns});
  return next;
}

void connector::turn() {
  take_resolved();
  handle_late(base::now_ns());
  epoll_event events[max_attempt_events];
  const int count = ::epoll_wait(epoll_.get(), events, max_attempt_events, 0);
  for (int i = 0; i < count; ++i) {
    // One of this round's earlier events may have ended it.
    auto* const which = static_cast<attempt*>(events[i].data.ptr);
    if (attempts_.contains(which)) act_on(*which, [&] { advance(*which); });
  }
}

void connector::handle_late(std::int64_t now) {
  std::vector<attempt*> late;
  std::vector<attempt*> again;
  for (const auto& [key, one] : attempts_) {
    if (one->deadline_ns <= now)
      late.push_back(key);
    else if (one->again_ns != 0 && one->again_ns <= now)
      again.push_back(key);
  }
  for (attempt* const one : late) {
    act_on(*one, [&] {
      give_up(*one, one->crossed || one->refused || one->again_ns != 0 ? one->trouble : "it did not answer in time");
    });
  }
  for (attempt* const one : again) {
    one->again_ns = 0;
    act_on(*one, [&] { try_next(*one); });
  }
}

/// Whether this would be plaintext that others could read, or answer.
bool connector::exposed(const attempt& which, const socket_address& to) const noexcept {
  return which.to.key == nullptr && !limits_.allow_exposed && !to.is_loopback();
}

void connector::try_next(attempt& which) {
  which.shaking.reset();
  while (!which.left.empty()) {
    const socket_address to = which.left.front();
    which.left.erase(which.left.begin());
    if (exposed(which, to)) {
      which.trouble =
          "without security only loopback addresses are connected to (whoever answers could run any function of this "
          "program); give both sides a key, or force it";
      continue;
    }
    base::unique_fd socket = begin_connect(to, limits_.timeout, which.trouble);
    if (!socket) continue;
    which.shaking.emplace(std::move(socket), which.to.key,
                          client_.hello_for(which.to.peer, which.to.what, to.is_loopback()));
    base::watch(epoll_.get(), which.shaking->socket(), EPOLLOUT, &which);
    return;
  }
  give_up(which, which.trouble);
}

void connector::advance(attempt& which) {
  if (!which.shaking) return;
  switch (which.shaking->step()) {
    case handshake::status::pending:
      base::change_watch(epoll_.get(), which.shaking->socket(), events_of(which.shaking->wants()), &which);
      return;
    case handshake::status::failed:
      which.crossed = which.shaking->answer().answer == verdict::crossed;
      which.trouble = which.shaking->why();
      if (which.crossed)
        which.shaking.reset();  // the peer's own connection comes, or the deadline does
      else if (comes_again(which))
        which.shaking.reset();
      else
        try_next(which);
      return;
    case handshake::status::greeted: arrive(which);
  }
}

/// A process that waits for hosts takes one and leaves others that connect at the same moment to the next process.
bool connector::comes_again(attempt& which) {
  if (which.to.what != purpose::invite) return false;
  const verdict answer = which.shaking->answer().answer;
  const std::int64_t now = base::now_ns();
  if (answer == verdict::full && !std::exchange(which.refused, true))
    which.deadline_ns = std::min(which.deadline_ns, now + timeout_if_full_ns);
  const bool busy = answer == verdict::busy || answer == verdict::full;
  if (!busy) {
    if (!which.shaking->hung_up()) return false;
    if (which.hung_up_ns == 0) which.hung_up_ns = now;
    if (now - which.hung_up_ns >= time_of_hang_ups_ns) return false;
  }
  which.left = which.all;
  which.again_ns = now + pause_before_next_ns;
  return true;
}

void connector::arrive(attempt& which) {
  connection with = which.shaking->take();
  base::unwatch(epoll_.get(), with.socket());
  const welcome answer = which.shaking->answer();
  const destination to = std::move(which.to);
  attempts_.erase(&which);
  // The key is right, and the others' turn comes: a program that waits for hosts takes one after the other, however
  // many come at the same moment.
  const std::int64_t now = base::now_ns();
  for (const auto& [key, other] : attempts_) {
    if (other->to.what != purpose::invite || other->to.address != to.address) continue;
    other->hung_up_ns = 0;
    other->refused = false;
    other->deadline_ns = std::max(other->deadline_ns, now + other->timeout_ns);
  }
  client_.on_greeted(to, std::move(with), answer);
}

void connector::give_up(attempt& which, const std::string& why) {
  const std::string reason = why;  // may be of the attempt
  const destination to = std::move(which.to);
  attempts_.erase(&which);
  client_.on_unreachable(to, reason);
}

}  // namespace ham::transport::tcp
