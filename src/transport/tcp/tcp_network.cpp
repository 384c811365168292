// Life of a network, its peers' records, and what endpoints report.
#include "transport/tcp/tcp_network.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>

#include <algorithm>

#include "base/clock.hpp"
#include "base/process.hpp"
#include "base/refused_call.hpp"
#include "base/thread.hpp"
#include "transport/tcp/bulk_server.hpp"
#include "transport/tcp/socket.hpp"
#include "transport/tcp/tcp_attempt.hpp"
#include "transport/tcp/tls_hkdf.hpp"

namespace ham::transport::tcp {
namespace {

constexpr std::size_t most_lanes_served = 2 * bulk_client::most_lanes;

base::unique_fd make_epoll() {
  base::unique_fd made(::epoll_create1(EPOLL_CLOEXEC));
  if (!made) {
    throw config_error("cannot make an epoll descriptor" +
                       base::refused_call("epoll_create1", "raise the limit of open files (ulimit -n)"));
  }
  return made;
}

base::unique_fd make_event() {
  base::unique_fd made(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!made) {
    throw config_error("cannot make an event descriptor" +
                       base::refused_call("eventfd2", "raise the limit of open files (ulimit -n)"));
  }
  return made;
}

void watch(int epoll, int fd, std::uint32_t events, void* source) {
  epoll_event interest{events, {.ptr = source}};
  ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &interest);
}

/// Encryption keeps a core busy on each side; a plain stream is limited by memory.
std::size_t streams_for(const network_options& options) {
  return options.secure ? std::clamp<std::size_t>(base::usable_cores() / 2, 1, bulk_client::most_lanes) : 1;
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
      sockets_(make_epoll()),
      event_(make_event()),
      keeper_epoll_(make_epoll()),
      keeper_event_(make_event()) {
  if (options_.secure) {
    job_client_ = std::make_shared<tls_context>(tls_role::client, options_.job_key, job_identity);
    job_server_ = std::make_shared<tls_context>(tls_role::server, options_.job_key, job_identity);
  }
  base::unique_fd socket = listen_at(parse_bind(options_.bind), !options_.secure && !options_.force_insecure);
  listening_ = local_address(socket.get());
  address_ = name_of(listening_, options_.bind);
  reception_ = std::make_unique<reception>(std::move(socket), job_server_, options_.timeout);
  watch(sockets_.get(), event_.get(), EPOLLIN, nullptr);
  watch(keeper_epoll_.get(), keeper_event_.get(), EPOLLIN, nullptr);
  watch(keeper_epoll_.get(), reception_->fd(), EPOLLIN, nullptr);
  flusher_.start([this](bool long_round) { return flush(long_round); });
  keeper_ = base::start_thread([this] { keep(); });
}

tcp_network::~tcp_network() { shutdown(); }

void tcp_network::shutdown() noexcept {
  {
    std::lock_guard guard(mutex_);
    if (stopping_) return;
    stopping_ = true;
  }
  leave_all();
  ring_keeper();
  keeper_.join();
  flusher_.stop();
  for (auto& [node, peer] : peers_) {
    if (peer->bulk != nullptr) peer->bulk->close();
    for (const auto& served : peer->served) served->cut();
  }
  for (lane_thread& one : lane_threads_) {
    one.on->cut();
    one.thread.join();
  }
  for (resolver& one : resolvers_) one.thread.join();
  for (auto& [node, peer] : peers_) peer->end->bury();
}

void tcp_network::leave_all() noexcept {
  for (const shared_record& one : all_records()) one->end->leave();
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

/// Its record goes when the keeper has buried it, and no frame of it can be in use any more.
void tcp_network::forget(endpoint& with) noexcept {
  shared_record record;
  {
    std::lock_guard guard(mutex_);
    record = record_of(with.peer());
  }
  if (record == nullptr || record->end.get() != &with) return;
  tcp_endpoint& one = *record->end;
  one.take_out(sockets_.get(), true);
  std::erase(polled_, &one);
  std::erase(ready_, &one);
  if (hot_ == &one) hot_ = nullptr;
  if (unlisted_ == &one) unlisted_ = nullptr;
  std::lock_guard guard(mutex_);
  std::erase(fresh_, &one);
  record->forgotten = true;
  if (record->buried) peers_.erase(one.peer());
  leaving_.push_back(std::move(record));
  has_fresh_.store(true, std::memory_order_release);  // the next poll looks after it
}

void tcp_network::connect(node_t peer) {
  {
    std::lock_guard guard(mutex_);
    if (wanted_.contains(peer)) return;
    const shared_record record = record_of(peer);
    if (record != nullptr && record->end->state() == endpoint_state::open) return;
  }
  observer_.on_lost(peer, "no address of it is known here, and it has not connected by itself");
}

// ---- a connection that stands

tcp_endpoint* tcp_network::adopt(node_t peer, connection with, std::uint8_t flags, std::uint16_t port) {
  const auto fresh = std::make_shared<peer_record>();
  fresh->what = source::kind::peer;
  if (port != 0) {
    fresh->bulk_address = remote_address(with.socket());
    fresh->bulk_address.set_port(port);
  }
  fresh->end =
      std::make_unique<tcp_endpoint>(peer, std::move(with), options_.timeout, static_cast<endpoint_owner&>(*this));
  if ((flags & has_memory) != 0) {
    fresh->bulk = std::make_shared<bulk_client>([this, peer] { return open_lane(peer); }, streams_);
    fresh->end->set_memory(fresh->bulk);
  }
  peer_record* const record = fresh.get();
  tcp_endpoint* const end = record->end.get();
  {
    std::lock_guard guard(mutex_);
    wanted_.erase(peer);
    if (stopping_ || !peers_.emplace(peer, fresh).second) return nullptr;
  }
  end->medium = name();
  watch_soon();  // from now on it is watched
  observer_.on_connected(*end);
  end->list_in(sockets_.get());
  {
    std::lock_guard guard(mutex_);
    if (!fresh->forgotten) fresh_.push_back(end);
    has_fresh_.store(true, std::memory_order_release);
  }
  wake();
  watch(keeper_epoll_.get(), end->socket(), EPOLLRDHUP | EPOLLOUT | EPOLLET, static_cast<source*>(record));
  return end;
}

void tcp_network::join(node_t peer, connection with, const hello& theirs) {
  welcome answer{verdict::accepted, 0, port_for(with.socket()), 0, theirs.nonce};
  if (memory_ != nullptr) answer.flags = has_memory;
  if (::getrandom(&answer.epoch, sizeof answer.epoch, 0) != sizeof answer.epoch) answer.epoch = 1;
  with.epoch = answer.epoch;
  if (!send_welcome(with, answer)) {
    observer_.on_lost(peer, "it went before it was answered");
    return;
  }
  adopt(peer, std::move(with), theirs.flags, theirs.port);
}

// ---- lanes

void tcp_network::reap_lanes() {
  std::vector<lane_thread> over;
  {
    std::lock_guard guard(mutex_);
    if (stopping_) return;  // shutdown() sees to them
    const auto begin = std::partition(lane_threads_.begin(), lane_threads_.end(),
                                      [](const lane_thread& one) { return !one.on->over(); });
    std::move(begin, lane_threads_.end(), std::back_inserter(over));
    lane_threads_.erase(begin, lane_threads_.end());
    for (auto& [node, peer] : peers_) std::erase_if(peer->served, [](const auto& one) { return one->over(); });
  }
  for (lane_thread& one : over) one.thread.join();
}

void tcp_network::serve_lane(node_t peer, connection with) {
  reap_lanes();
  auto on = std::make_shared<lane>(std::move(with));
  std::lock_guard guard(mutex_);
  const shared_record record = record_of(peer);
  if (stopping_ || record == nullptr || record->end->state() != endpoint_state::open) return;
  if (record->served.size() >= most_lanes_served) return;
  record->served.push_back(on);
  lane_threads_.push_back({on, base::start_thread([this, on] { serve_bulk(*on, memory_); })});
}

std::unique_ptr<lane> tcp_network::open_lane(node_t peer) {
  socket_address to;
  shared_record record;
  {
    std::lock_guard guard(mutex_);
    record = record_of(peer);
    if (record == nullptr || stopping_) return nullptr;
    to = record->bulk_address;
  }
  if (to.size != 0) {
    const hello mine = hello_for(peer, purpose::bulk, to.is_loopback());
    if (auto with = connect_now(to, job_client_, mine, options_.timeout))
      return std::make_unique<lane>(std::move(*with));
    std::lock_guard guard(mutex_);
    record->bulk_address.size = 0;  // not reachable from here: from now on the peer is asked
  }
  record->end->ask_for_lane();
  return nullptr;
}

// ---- what endpoints report

void tcp_network::lost(tcp_endpoint& which, const std::string& reason) noexcept {
  {
    std::lock_guard guard(mutex_);
    if (const shared_record record = record_of(which.peer())) {
      if (record->bulk != nullptr) record->bulk->close();
      for (const auto& served : record->served) served->cut();
    }
  }
  observer_.on_lost(which.peer(), reason);
}

void tcp_network::broken(tcp_endpoint& which, const std::string& reason) noexcept {
  observer_.on_broken(which.peer(), reason);
}

void tcp_network::dried_up(tcp_endpoint& which) noexcept { which.take_out(sockets_.get(), true); }

void tcp_network::closed(tcp_endpoint& which) noexcept {
  const node_t peer = which.peer();
  post([this, peer] {
    std::lock_guard guard(mutex_);
    const shared_record record = record_of(peer);
    if (record == nullptr || record->bury_ns != 0) return;
    if (record->bulk != nullptr) record->bulk->close();
    for (const auto& served : record->served) served->cut();
    record->bury_ns = base::now_ns() + 1'000'000'000;
    dying_.push_back(record);
  });
}

void tcp_network::lane_wanted(tcp_endpoint& which) noexcept {
  const node_t peer = which.peer();
  std::string address;
  {
    std::lock_guard guard(mutex_);
    const shared_record record = record_of(peer);
    if (record == nullptr || record->bulk_address.size == 0) return;
    const auto served =
        std::count_if(record->served.begin(), record->served.end(), [](const auto& one) { return !one->over(); });
    // A frame of 24 bytes costs a socket and a handshake here: as many as may be served, no more.
    if (record->lanes_begun + static_cast<std::size_t>(served) >= most_lanes_served) return;
    ++record->lanes_begun;
    address = record->bulk_address.text();
  }
  post([this, peer, address] { begin(peer, address, job_client_, purpose::bulk_reversed); });
}

void tcp_network::lane_attempt_over(node_t peer) noexcept {
  std::lock_guard guard(mutex_);
  if (const shared_record record = record_of(peer)) --record->lanes_begun;
}

void tcp_network::watch_soon() noexcept {
  if (!watch_soon_.exchange(true)) ring_keeper();
}

flusher::found tcp_network::flush(bool long_round) {
  const std::int64_t now = base::now_ns();
  auto result = flusher::found::nothing;
  for (const shared_record& one : all_records()) {
    tcp_endpoint& end = *one->end;
    if (end.state() != endpoint_state::open) continue;
    if (end.push_aged(now)) {
      result = flusher::found::bytes_waiting;
    } else if (end.owes() && result == flusher::found::nothing) {
      result = flusher::found::something_owed;
    }
    if (long_round) end.tell_taken();
  }
  return result;
}

}  // namespace ham::transport::tcp
