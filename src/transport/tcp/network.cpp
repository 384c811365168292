// Life of a network, its peers' records, what endpoints report, and a turn of the I/O thread.
#include "transport/tcp/network.hpp"

#include <sys/epoll.h>

#include <algorithm>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/process.hpp"
#include "transport/tcp/peer_record.hpp"
#include "transport/tcp/socket.hpp"
#include "transport/tcp/tls_hkdf.hpp"

namespace ham::inline v1::transport::tcp {
namespace {

constexpr std::int64_t closing_poll_ns = 5'000'000;
constexpr std::int64_t closing_timeout_ns = 1'000'000'000;
constexpr std::int64_t farewell_timeout_ns = 300'000'000;
constexpr std::int64_t delivery_timeout_ns = 50'000'000;  // behind that, of a target
/// A peer that was asked for a lane so long ago opens none. Less than bulk_client's pause between two questions.
constexpr std::int64_t lane_answer_ns = 500'000'000;

/// Encryption keeps a core busy on each side; a plain stream is limited by memory.
std::size_t streams_for(const network_options& options) {
  return options.secure ? std::clamp<std::size_t>(base::usable_cores() / 2, 1, bulk_client::max_lanes) : 1;
}

std::string name_of(socket_address at, const std::string& bind) {
  if (!at.is_any()) return at.text();
  socket_address seen = visible_address(at.family());
  if (seen.size == 0) seen = visible_address(AF_INET);
  if (seen.size == 0) {
    throw config_error("this machine has no address that others could use (bind is " + bind + "); bind to one");
  }
  seen.set_port(at.port());
  return seen.text();
}

}  // namespace

job_id id_of(const secret_key& key, bool secure) {
  if (secure) return derive_job_id(key);
  job_id result{};  // told to everybody anyway, and made alike where there is no OpenSSL
  std::copy_n(key.begin(), result.size(), result.begin());
  return result;
}

tcp_network::tcp_network(const network_options& options, const job_id& job, base::heap* memory, observer& to)
    : options_(options),
      job_(job),
      memory_(memory),
      observer_(to),
      streams_(streams_for(options)),
      lanes_(memory),
      connector_({options.timeout, options.force_insecure}, *this) {
  if (options_.secure) {
    job_client_ = std::make_shared<tls_context>(tls_role::client, options_.job_key, job_identity, options_.records);
    job_server_ = std::make_shared<tls_context>(tls_role::server, options_.job_key, job_identity, options_.records);
  }
  base::unique_fd socket = listen_at(parse_bind(options_.bind), !options_.secure && !options_.force_insecure);
  listening_ = local_address(socket.get());
  address_ = name_of(listening_, options_.bind);
  base::log("tcp", base::log_level::info, "listens at %s, %s", address_.c_str(),
            options_.secure ? "with TLS" : "without TLS");
  acceptor_ = std::make_unique<acceptor>(std::move(socket), job_server_, options_.timeout);
  // turn() serves both.
  io_.watch(connector_.fd(), EPOLLIN, nullptr);
  io_.watch(acceptor_->fd(), EPOLLIN, nullptr);
  flusher_.start([this](bool long_round) { return flush(long_round); });
  io_.start(*this);
}

tcp_network::~tcp_network() { shutdown(); }

void tcp_network::shutdown() noexcept {
  {
    std::lock_guard guard(mutex_);
    if (stopping_) return;
    stopping_ = true;
  }
  for (const shared_record& one : all_records()) one->end->leave();
  // Behind what leave() has posted.
  io_.post([this] {
    stop_at_ns_ = base::now_ns() + farewell_timeout_ns;
    io_.unwatch(acceptor_->fd());
  });
  io_.join();
  flusher_.stop();
  for (auto& [node, peer] : peers_) peer->end_transfers();
  lanes_.stop();
  connector_.stop();
  for (auto& [node, peer] : peers_) peer->end->close_stream();
}

std::vector<tcp_network::shared_record> tcp_network::all_records() {
  std::vector<shared_record> all;
  std::lock_guard guard(mutex_);
  all.reserve(peers_.size());
  for (const auto& [node, peer] : peers_) all.push_back(peer);
  return all;
}

/// mutex_ is held.
tcp_network::shared_record tcp_network::record_of(node_t peer) {
  const auto found = peers_.find(peer);
  return found == peers_.end() ? nullptr : found->second;
}

void tcp_network::leave(node_t peer) noexcept {
  shared_record record;
  {
    std::lock_guard guard(mutex_);
    record = record_of(peer);
  }
  if (record != nullptr) record->end->leave();
}

/// Its record goes when the I/O thread has reaped it, and no frame of it can be in use any more.
void tcp_network::forget(endpoint& with) noexcept {
  shared_record record;
  {
    std::lock_guard guard(mutex_);
    record = record_of(with.peer());
    if (record == nullptr || record->end.get() != &with) return;
    record->forgotten = true;
    if (record->reaped) peers_.erase(with.peer());
  }
  poller_.forget({record, record->end.get()});
}

void tcp_network::connect(node_t peer) {
  {
    std::lock_guard guard(mutex_);
    if (connecting_.contains(peer)) return;
    const shared_record record = record_of(peer);
    if (record != nullptr && record->end->state() == endpoint_state::open) return;
  }
  observer_.on_lost(peer, "no address of it is known here, and it has not connected by itself");
}

// ---- lanes

void tcp_network::serve_lane(node_t peer, connection with) {
  std::lock_guard guard(mutex_);
  const shared_record record = record_of(peer);
  if (stopping_ || record == nullptr || record->end->state() != endpoint_state::open) return;
  try {
    lanes_.serve(peer, std::move(with));
  } catch (const std::exception& problem) {  // no thread, or no memory for one: the peer sees the lane end
    base::log("tcp", base::log_level::warning, "a lane of node %d is not served: %s", peer, problem.what());
  }
}

std::unique_ptr<lane> tcp_network::open_lane(node_t peer) {
  socket_address to;
  shared_record record;
  {
    std::lock_guard guard(mutex_);
    record = record_of(peer);
    if (record == nullptr || stopping_) return nullptr;
    // One failure may be of the moment, and the peer may be unable to connect to this node: only who answers to being
    // asked is no longer connected to.
    const bool asked_in_vain = record->asked_ns != 0 && base::now_ns() - record->asked_ns >= lane_answer_ns;
    if (!record->unreachable || asked_in_vain) to = record->bulk_address;
  }
  if (to.size != 0) {
    const hello mine = hello_for(peer, purpose::bulk, to.is_loopback());
    auto with = connect_now(to, job_client_, mine, options_.timeout);
    std::lock_guard guard(mutex_);
    record->unreachable = !with.has_value();
    record->asked_ns = 0;
    if (with) return std::make_unique<lane>(std::move(*with));
  }
  {
    std::lock_guard guard(mutex_);
    if (record->asked_ns == 0) record->asked_ns = base::now_ns();
  }
  record->end->sender().ask_for_lane();
  return nullptr;
}

// ---- what endpoints report

void tcp_network::lost(tcp_endpoint& which, const std::string& reason) noexcept {
  {
    std::lock_guard guard(mutex_);
    if (const shared_record record = record_of(which.peer())) {
      record->lost = true;
      record->end_transfers();
    }
  }
  observer_.on_lost(which.peer(), reason);
}

void tcp_network::broken(tcp_endpoint& which, const std::string& reason) noexcept {
  observer_.on_broken(which.peer(), reason);
}

void tcp_network::closed(tcp_endpoint& which) noexcept {
  const node_t peer = which.peer();
  io_.post([this, peer] {
    std::lock_guard guard(mutex_);
    const shared_record record = record_of(peer);
    if (record == nullptr || record->reap_ns != 0) return;
    record->end_transfers();
    closing_.push_back(record);
    record->reap_ns = base::now_ns() + closing_timeout_ns;
  });
}

void tcp_network::lane_wanted(tcp_endpoint& which) noexcept {
  const node_t peer = which.peer();
  socket_address address;
  {
    std::lock_guard guard(mutex_);
    const shared_record record = record_of(peer);
    if (record == nullptr || record->bulk_address.size == 0) return;
    // A frame of 24 bytes costs a socket and a handshake here: as many as may be served, no more.
    if (record->lanes_begun + lanes_.count(peer) >= lane_server::max_lanes_per_peer) return;
    ++record->lanes_begun;
    address = record->bulk_address;
  }
  try {
    connector_.begin({peer, purpose::bulk_reversed, address.text(), job_client_});
  } catch (const std::exception&) {  // no memory: it asks again
    lane_attempt_over(peer);
  }
}

void tcp_network::lane_attempt_over(node_t peer) noexcept {
  std::lock_guard guard(mutex_);
  if (const shared_record record = record_of(peer)) --record->lanes_begun;
}

void tcp_network::watch_soon() noexcept {
  if (!watch_soon_.exchange(true)) io_.wake();
}

flusher::found tcp_network::flush(bool long_round) {
  const std::int64_t now = base::now_ns();
  auto result = flusher::found::nothing;
  for (const shared_record& one : all_records()) {
    tcp_endpoint& end = *one->end;
    if (end.state() != endpoint_state::open) continue;
    if (end.sender().push_aged(now)) {
      result = flusher::found::bytes_waiting;
    } else if (end.sender().ack_due() && result == flusher::found::nothing) {
      result = flusher::found::something_owed;
    }
    if (long_round) end.sender().acknowledge();
  }
  return result;
}

// ---- the I/O thread

std::int64_t tcp_network::next_ns() const {
  std::int64_t next = std::min(connector_.next_ns(), next_watch_ns_);
  if (stop_at_ns_ == 0) next = std::min(next, acceptor_->next_ns());
  if (!closing_.empty()) next = std::min(next, base::now_ns() + closing_poll_ns);
  return next;
}

bool tcp_network::turn() {
  const std::int64_t now = base::now_ns();
  reap_closed(now);
  if (stop_at_ns_ != 0 && closing_.empty()) return false;
  connector_.turn();
  if (stop_at_ns_ == 0) {
    acceptor_->turn([this](connection with, const hello& theirs) { welcome_connection(std::move(with), theirs); });
  }
  if (watch_soon_.exchange(false) || now >= next_watch_ns_) watch_all(now);
  return true;
}

void tcp_network::watch_all(std::int64_t now) {
  next_watch_ns_ = base::never_ns;
  for (const shared_record& one : all_records()) {
    const std::int64_t left = one->end->watch_silence();
    if (left != base::never_ns) next_watch_ns_ = std::min(next_watch_ns_, now + left);
  }
}

void tcp_network::reap_closed(std::int64_t now) {
  if (closing_.empty()) return;
  const bool end_is_due = stop_at_ns_ != 0 && now >= stop_at_ns_;
  // A target that takes longer is killed by who serves it.
  const bool no_more_time = options_.self != 0 && now - stop_at_ns_ >= delivery_timeout_ns;
  const auto reaped = std::erase_if(closing_, [&](const shared_record& one) {
    const bool delivered = end_is_due && (no_more_time || all_delivered(one->end->socket()));
    if (!one->end->receiver().drain() && now < one->reap_ns && !delivered) return false;
    io_.unwatch(one->end->socket());
    one->end->close_stream();
    {
      std::lock_guard guard(mutex_);
      one->reaped = true;
      if (one->forgotten) peers_.erase(one->end->peer());
    }
    // Of a host whose connection was closed from this side nothing will be seen any more: it is as good as gone.
    if (one->end->peer() == 0 && stop_at_ns_ == 0) report_lost(0, [&] { return one->end->reason(); });
    return true;
  });
  if (reaped != 0) lanes_.reap();
}

}  // namespace ham::transport::tcp
