// How nodes meet: attempts of this side, guests of the reception, and who wins when both come at once.
#include <poll.h>
#include <sys/epoll.h>
#include <sys/random.h>

#include <algorithm>

#include "base/clock.hpp"
#include "base/thread.hpp"
#include "transport/tcp/socket.hpp"
#include "transport/tcp/tcp_attempt.hpp"

namespace ham::transport::tcp {
namespace {

/// The other side may have to start a process before it answers an invitation.
constexpr std::chrono::seconds invitation_patience{10};

constexpr std::int64_t pause_before_next_ns = 50'000'000;
constexpr int most_hang_ups = 5;
/// A server that is full may be full of a job that ends just now.
constexpr std::int64_t patience_if_full_ns = 2'000'000'000;

std::uint64_t fresh_nonce() noexcept {
  std::uint64_t value = 0;
  if (::getrandom(&value, sizeof value, 0) != sizeof value) value = static_cast<std::uint64_t>(base::now_ns());
  return value;
}

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
    if (left <= 0 || ::poll(&waiting, 1, static_cast<int>(left / 1'000'000 + 1)) < 0) return std::nullopt;
    switch (going.step()) {
      case handshake::status::pending: continue;
      case handshake::status::failed: return std::nullopt;
      case handshake::status::greeted: return going.take();
    }
  }
}

std::uint16_t tcp_network::port_for(int socket) const noexcept {
  const bool here = listening_.is_any() || listening_.same_host(local_address(socket));
  return here ? listening_.port() : std::uint16_t{0};
}

hello tcp_network::hello_for(node_t peer, purpose what, bool to_loopback) const {
  hello mine;
  mine.what = what;
  mine.flags = memory_ != nullptr ? has_memory : std::uint8_t{0};
  mine.port = listening_.is_loopback() && !to_loopback ? std::uint16_t{0} : listening_.port();
  mine.from = options_.self;
  mine.to = peer;
  mine.nonce = fresh_nonce();
  mine.job = job_;
  if (what == purpose::invite && options_.secure) mine.job_key = options_.job_key;
  return mine;
}

void tcp_network::invite(node_t peer, const std::string& address, const std::optional<secret_key>& server_key) {
  std::shared_ptr<const tls_context> key;
  if (server_key) key = std::make_shared<tls_context>(tls_role::client, *server_key, invite_identity);
  if (options_.secure != server_key.has_value()) {
    throw config_error("node " + std::to_string(peer) + " at " + address +
                       (options_.secure ? " cannot be invited without its key (this job is secure)"
                                        : " cannot be invited by key (this job runs without security)") +
                       "; use security for all nodes of a job or for none");
  }
  static_cast<void>(parse_address(address));
  {
    std::lock_guard guard(mutex_);
    if (!wanted_.insert(peer).second) return;
  }
  post([this, peer, address, key] { begin(peer, address, key, purpose::invite); });
}

void tcp_network::reach(node_t peer, const std::string& address) {
  static_cast<void>(parse_address(address));
  {
    std::lock_guard guard(mutex_);
    if (record_of(peer) != nullptr || !wanted_.insert(peer).second) return;
  }
  post([this, peer, address] { begin(peer, address, job_client_, purpose::reach); });
}

// ---- this side connects

void tcp_network::begin(node_t peer, const std::string& address, std::shared_ptr<const tls_context> key, purpose what) {
  auto fresh = std::make_unique<attempt>();
  fresh->what = source::kind::attempt;
  fresh->peer = peer;
  fresh->why = what;
  fresh->address = address;
  fresh->key = std::move(key);
  const host_port where = parse_address(address);
  std::string trouble;
  if (is_numeric(where)) {
    fresh->left = resolve(where, false, trouble);
    resolved(std::move(fresh), trouble);
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
  auto thread = base::start_thread([this, where, over, waiting = std::move(fresh)]() mutable {
    std::string reason;
    waiting->left = resolve(where, false, reason);
    post([this, reason, given = std::shared_ptr<attempt>(std::move(waiting))] {
      resolved(std::make_unique<attempt>(std::move(*given)), reason);
    });
    over->store(true);
  });
  resolvers_.push_back({std::move(thread), over});
}

void tcp_network::resolved(std::unique_ptr<attempt> fresh, const std::string& why) {
  const auto patience = fresh->why == purpose::invite
                            ? std::max<std::chrono::milliseconds>(options_.timeout, invitation_patience)
                            : options_.timeout;
  fresh->deadline_ns = base::now_ns() + std::chrono::nanoseconds(patience).count();
  fresh->trouble = why;
  attempt* const which = fresh.get();
  which->all = which->left;
  attempts_.emplace(which, std::move(fresh));
  try_next(*which);
}

/// Whether this would be plaintext that others could read, or answer.
bool tcp_network::exposed(const attempt& which, const socket_address& to) const noexcept {
  return which.key == nullptr && !options_.force_insecure && !to.is_loopback();
}

void tcp_network::try_next(attempt& which) {
  which.on_the_way.reset();
  while (!which.left.empty()) {
    const socket_address to = which.left.front();
    which.left.erase(which.left.begin());
    if (exposed(which, to)) {
      which.trouble =
          "without security only loopback addresses are connected to (whoever answers could run any function of this "
          "program); give both sides a key, or force it";
      continue;
    }
    base::unique_fd socket = begin_connect(to, options_.timeout, which.trouble);
    if (!socket) continue;
    which.on_the_way.emplace(std::move(socket), which.key, hello_for(which.peer, which.why, to.is_loopback()));
    epoll_event interest{EPOLLOUT, {.ptr = static_cast<source*>(&which)}};
    ::epoll_ctl(keeper_epoll_.get(), EPOLL_CTL_ADD, which.on_the_way->socket(), &interest);
    return;
  }
  give_up(which, which.trouble);
}

void tcp_network::advance(attempt& which) {
  if (!which.on_the_way) return;
  switch (which.on_the_way->step()) {
    case handshake::status::pending: {
      epoll_event interest{events_of(which.on_the_way->wants()), {.ptr = static_cast<source*>(&which)}};
      ::epoll_ctl(keeper_epoll_.get(), EPOLL_CTL_MOD, which.on_the_way->socket(), &interest);
      return;
    }
    case handshake::status::failed:
      which.crossed = which.on_the_way->answer().answer == verdict::crossed;
      which.trouble = which.on_the_way->why();
      if (which.crossed)
        which.on_the_way.reset();  // the peer's own connection comes, or the deadline does
      else if (comes_again(which))
        which.on_the_way.reset();
      else
        try_next(which);
      return;
    case handshake::status::greeted: arrive(which);
  }
}

/// A process that waits for hosts takes one and leaves those that knock at the same moment to the next process.
bool tcp_network::comes_again(attempt& which) {
  if (which.why != purpose::invite) return false;
  const verdict answer = which.on_the_way->answer().answer;
  if (answer == verdict::full && !std::exchange(which.refused, true))
    which.deadline_ns = std::min(which.deadline_ns, base::now_ns() + patience_if_full_ns);
  const bool busy = answer == verdict::busy || answer == verdict::full;
  if (!busy && !(which.on_the_way->hung_up() && ++which.hang_ups <= most_hang_ups)) return false;
  which.left = which.all;
  which.again_ns = base::now_ns() + pause_before_next_ns;
  return true;
}

void tcp_network::arrive(attempt& which) {
  connection with = which.on_the_way->take();
  ::epoll_ctl(keeper_epoll_.get(), EPOLL_CTL_DEL, with.socket(), nullptr);
  const welcome answer = which.on_the_way->answer();
  const node_t peer = which.peer;
  const purpose why = which.why;
  drop(which);
  if (why == purpose::bulk_reversed) {
    serve_lane(peer, std::move(with));
    lane_attempt_over(peer);
  } else {
    adopt(peer, std::move(with), answer.flags, answer.port);
  }
}

void tcp_network::give_up(attempt& which, std::string why) {
  const node_t peer = which.peer;
  const purpose purpose_of_it = which.why;
  const std::string address = which.address;
  drop(which);
  if (purpose_of_it == purpose::bulk_reversed) {
    lane_attempt_over(peer);
    return;
  }
  {
    std::lock_guard guard(mutex_);
    wanted_.erase(peer);
    if (record_of(peer) != nullptr) return;
  }
  observer_.on_lost(peer, "cannot connect to " + address + ": " + why);
}

void tcp_network::drop(attempt& which) { attempts_.erase(&which); }

// ---- others connect

bool tcp_network::turn_away(connection& with, const hello& theirs, verdict why) noexcept {
  return send_welcome(with, {why, 0, 0, 0, theirs.nonce});
}

void tcp_network::welcome_guest(connection with, const hello& theirs) {
  if (theirs.what == purpose::invite) {
    turn_away(with, theirs, verdict::not_offered);
  } else if (theirs.job != job_ || theirs.to != options_.self) {
    turn_away(with, theirs, verdict::wrong_job);
  } else if (theirs.what == purpose::reach) {
    welcome_peer(std::move(with), theirs);
  } else {
    welcome_lane(std::move(with), theirs);
  }
}

void tcp_network::welcome_peer(connection with, const hello& theirs) {
  verdict answer = verdict::accepted;
  {
    std::lock_guard guard(mutex_);
    if (record_of(theirs.from) != nullptr || stopping_)
      answer = verdict::not_now;
    else if (wanted_.contains(theirs.from) && options_.self < theirs.from)
      answer = verdict::crossed;  // of two that connect to each other at once, the lower one's connection counts
  }
  if (answer != verdict::accepted)
    turn_away(with, theirs, answer);
  else
    join(theirs.from, std::move(with), theirs);
}

void tcp_network::welcome_lane(connection with, const hello& theirs) {
  std::shared_ptr<bulk_client> reversed;
  {
    std::lock_guard guard(mutex_);
    const shared_record record = record_of(theirs.from);
    const bool known = record != nullptr && record->end->state() == endpoint_state::open && !stopping_;
    const bool offered = theirs.what == purpose::bulk ? memory_ != nullptr : known && record->bulk != nullptr;
    if (!known || !offered) {
      turn_away(with, theirs, known ? verdict::not_offered : verdict::not_now);
      return;
    }
    if (theirs.what == purpose::bulk_reversed) reversed = record->bulk;
  }
  if (!send_welcome(with, {verdict::accepted, 0, 0, 0, theirs.nonce})) return;
  if (reversed != nullptr)
    reversed->adopt(std::make_unique<lane>(std::move(with)));
  else
    serve_lane(theirs.from, std::move(with));
}

}  // namespace ham::transport::tcp
