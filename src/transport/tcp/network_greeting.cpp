// How nodes meet: whom this side connects to, whose connection it takes, and who wins when both connect at once.
#include <sys/epoll.h>
#include <sys/random.h>

#include <algorithm>
#include <exception>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "transport/common/bell.hpp"
#include "transport/tcp/peer_record.hpp"

namespace ham::inline v1::transport::tcp {
namespace {

std::uint64_t fresh_nonce() noexcept {
  std::uint64_t value = 0;
  if (::getrandom(&value, sizeof value, 0) != sizeof value) value = static_cast<std::uint64_t>(base::now_ns());
  return value;
}

void turn_away(connection& with, const hello& theirs, verdict why) noexcept {
  static_cast<void>(send_welcome(with, {why, 0, 0, 0, theirs.nonce}));
}

}  // namespace

// ---- this side connects

void tcp_network::invite(node_t peer, const std::string& address, const std::optional<secret_key>& server_key) {
  std::shared_ptr<const tls_context> key;
  if (server_key) key = std::make_shared<tls_context>(tls_role::client, *server_key, invite_identity, options_.records);
  if (options_.secure != server_key.has_value()) {
    throw config_error("node " + std::to_string(peer) + " at " + address +
                       (options_.secure ? " cannot be invited without its key (this job is secure)"
                                        : " cannot be invited by key (this job runs without security)") +
                       "; use security for all nodes of a job or for none");
  }
  static_cast<void>(parse_address(address));
  {
    std::lock_guard guard(mutex_);
    if (!connecting_.insert(peer).second) return;
  }
  connector_.begin({peer, purpose::invite, address, key});
}

void tcp_network::reach(node_t peer, const std::string& address) {
  static_cast<void>(parse_address(address));
  {
    std::lock_guard guard(mutex_);
    if (record_of(peer) != nullptr || !connecting_.insert(peer).second) return;
  }
  connector_.begin({peer, purpose::reach, address, job_client_});
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

void tcp_network::on_greeted(const connector::destination& who, connection with, const welcome& answer) {
  if (who.what == purpose::bulk_reversed) {
    serve_lane(who.peer, std::move(with));
    lane_attempt_over(who.peer);
  } else {
    adopt(who.peer, std::move(with), answer.flags, answer.port);
  }
}

void tcp_network::on_unreachable(const connector::destination& who, const std::string& why) {
  if (who.what == purpose::bulk_reversed) {
    lane_attempt_over(who.peer);
    return;
  }
  {
    std::lock_guard guard(mutex_);
    connecting_.erase(who.peer);
    if (record_of(who.peer) != nullptr) return;
  }
  report_lost(who.peer, [&] { return "cannot connect to " + who.address + ": " + why; });
}

// ---- others connect

void tcp_network::welcome_connection(connection with, const hello& theirs) {
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

/// By a node that lives, as far as this network knows, or by one of the same number. mutex_ is held.
bool tcp_network::has_place_of(node_t by) const noexcept {
  return std::any_of(peers_.begin(), peers_.end(), [by](const auto& known) {
    const auto& [node, record] = known;
    const bool lives = !record->lost && !record->forgotten && record->end->state() == endpoint_state::open;
    return node == by || (lives && place_of(node) == place_of(by));
  });
}

void tcp_network::welcome_peer(connection with, const hello& theirs) {
  verdict answer = verdict::accepted;
  {
    std::lock_guard guard(mutex_);
    // The host invites everybody; who only says a number is not to take the place of a node that has one.
    if (options_.self == 0 || has_place_of(theirs.from) || stopping_)
      answer = verdict::not_now;
    else if (connecting_.contains(theirs.from) && options_.self < theirs.from)
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
    if (theirs.what == purpose::bulk_reversed) {
      reversed = record->bulk;
      record->asked_ns = 0;
    }
  }
  if (!send_welcome(with, {verdict::accepted, 0, 0, 0, theirs.nonce})) return;
  if (reversed != nullptr)
    reversed->adopt(std::make_unique<lane>(std::move(with)));
  else
    serve_lane(theirs.from, std::move(with));
}

void tcp_network::join(node_t peer, connection with, const hello& theirs) {
  welcome answer{verdict::accepted, 0, port_for(with.socket()), 0, theirs.nonce};
  if (memory_ != nullptr) answer.flags = has_memory;
  if (::getrandom(&answer.epoch, sizeof answer.epoch, 0) != sizeof answer.epoch) answer.epoch = 1;
  with.epoch = answer.epoch;
  if (!send_welcome(with, answer)) {
    report_lost(peer, [] { return std::string("it went before it was answered"); });
    return;
  }
  adopt(peer, std::move(with), theirs.flags, theirs.port);
}

// ---- a connection that stands

void tcp_network::adopt(node_t peer, connection with, std::uint8_t flags, std::uint16_t port) noexcept {
  shared_record fresh;
  bool introduced = false;
  try {
    fresh = std::make_shared<peer_record>(*this);
    if (port != 0) {
      fresh->bulk_address = remote_address(with.socket());
      fresh->bulk_address.set_port(port);
    }
    if ((flags & has_memory) != 0)
      fresh->bulk = std::make_shared<bulk_client>([this, peer] { return open_lane(peer); }, streams_);
    endpoint_owner& owner = *this;
    fresh->end = std::make_shared<tcp_endpoint>(peer, std::move(with), options_.timeout, owner, fresh->bulk);
    tcp_endpoint& end = *fresh->end;
    {
      std::lock_guard guard(mutex_);
      connecting_.erase(peer);
      if (stopping_ || !peers_.emplace(peer, fresh).second) return;
    }
    end.medium = name();
    watch_soon();  // from now on it is watched
    observer_.on_connected(end);
    introduced = true;
    {
      std::lock_guard guard(mutex_);
      if (!fresh->forgotten) poller_.add(end);
    }
    io_.watch(end.socket(), EPOLLRDHUP | EPOLLOUT | EPOLLET, fresh.get());
  } catch (const std::exception& problem) {  // no memory for it
    {
      std::lock_guard guard(mutex_);
      connecting_.erase(peer);
      if (fresh != nullptr && !introduced && record_of(peer) == fresh) peers_.erase(peer);
    }
    report_lost(peer, [&] { return std::string("its connection could not be taken: ") + problem.what(); });
  }
}

}  // namespace ham::transport::tcp
