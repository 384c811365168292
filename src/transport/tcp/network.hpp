// A node's connections to the peers of its job: who they are, and what becomes of them.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "transport/network.hpp"
#include "transport/tcp/acceptor.hpp"
#include "transport/tcp/address.hpp"
#include "transport/tcp/bulk_client.hpp"
#include "transport/tcp/connector.hpp"
#include "transport/tcp/endpoint.hpp"
#include "transport/tcp/flusher.hpp"
#include "transport/tcp/io_thread.hpp"
#include "transport/tcp/lane_server.hpp"
#include "transport/tcp/poller.hpp"

namespace ham::inline v1::transport::tcp {

/// The job that a key stands for. If the key is secret, it says nothing about the key to who cannot guess it.
[[nodiscard]] job_id id_of(const secret_key& key, bool secure);

/// Three kinds of threads besides the caller's: the I/O thread connects, accepts and notices losses, the flusher sends
/// what bursts left, and one thread per lane serves accesses to this node's memory (docs/thread-model.md).
class tcp_network final : public network, private endpoint_owner, private connector::client, private io_thread::work {
 public:
  tcp_network(const network_options& options, const job_id& job, base::heap* memory, observer& to);
  ~tcp_network() override;

  /// Goes on with a connection to `peer` whose hello has been accepted; observer::on_connected comes before it returns.
  void join(node_t peer, connection with, const hello& theirs);

  // ---- network
  void invite(node_t peer, const std::string& address, const std::optional<secret_key>& server_key) override;
  void reach(node_t peer, const std::string& address) override;
  [[nodiscard]] std::string address() const override { return address_; }
  void leave(node_t peer) noexcept override;

  // ---- transport
  [[nodiscard]] const char* name() const noexcept override { return "tcp"; }
  void connect(node_t peer) override;
  [[nodiscard]] endpoint* poll(frame& out, unsigned) override { return poller_.poll(out); }
  [[nodiscard]] bool arm() override { return poller_.arm(); }
  void disarm() noexcept override { poller_.disarm(); }
  [[nodiscard]] int wake_fd() const noexcept override { return poller_.wake_fd(); }
  void wake() noexcept override { poller_.wake(); }
  void shutdown() noexcept override;
  void forget(endpoint& with) noexcept override;

 private:
  struct peer_record;
  using shared_record = std::shared_ptr<peer_record>;  // of those that work on it, besides peers_

  // ---- endpoint_owner
  void schedule_flush() noexcept override { flusher_.schedule_flush(); }
  void schedule_ack() noexcept override { flusher_.schedule_ack(); }
  void lost(tcp_endpoint& which, const std::string& reason) noexcept override;
  void broken(tcp_endpoint& which, const std::string& reason) noexcept override;
  void closed(tcp_endpoint& which) noexcept override;
  void read_eof(tcp_endpoint& which) noexcept override { poller_.mute(which); }
  void lane_wanted(tcp_endpoint& which) noexcept override;
  void watch_soon() noexcept override;

  // ---- connector::client
  [[nodiscard]] hello hello_for(node_t peer, purpose what, bool to_loopback) const override;
  void on_greeted(const connector::destination& who, connection with, const welcome& answer) override;
  void on_unreachable(const connector::destination& who, const std::string& why) override;

  // ---- io_thread::work
  [[nodiscard]] std::int64_t next_ns() const override;
  [[nodiscard]] bool turn() override;

  // ---- others connect (network_greeting.cpp)
  void welcome_connection(connection with, const hello& theirs);
  void welcome_peer(connection with, const hello& theirs);
  void welcome_lane(connection with, const hello& theirs);

  void adopt(node_t peer, connection with, std::uint8_t flags, std::uint16_t port) noexcept;
  /// `why` makes the reason; without memory for one there is none.
  template <class Why>
  void report_lost(node_t peer, Why why) noexcept {
    try {
      observer_.on_lost(peer, why());
    } catch (const std::bad_alloc&) {
      observer_.on_lost(peer, {});
    }
  }
  [[nodiscard]] std::uint16_t port_for(int socket) const noexcept;
  void serve_lane(node_t peer, connection with);
  void lane_attempt_over(node_t peer) noexcept;
  std::unique_ptr<lane> open_lane(node_t peer);  // the caller's thread
  void reap_closed(std::int64_t now);
  void watch_all(std::int64_t now);
  flusher::found flush(bool long_round);
  [[nodiscard]] shared_record record_of(node_t peer);
  [[nodiscard]] bool has_place_of(node_t by) const noexcept;
  [[nodiscard]] std::vector<shared_record> all_records();

  const network_options options_;
  const job_id job_;
  base::heap* const memory_;
  observer& observer_;
  const std::size_t streams_;  // of one large transfer
  std::shared_ptr<const tls_context> job_client_;
  std::shared_ptr<const tls_context> job_server_;
  socket_address listening_;
  std::string address_;

  mutable std::mutex mutex_;
  std::map<node_t, shared_record> peers_;  // until they are reaped and forgotten
  std::set<node_t> connecting_;            // being connected to by this side
  bool stopping_ = false;

  poller poller_;
  lane_server lanes_;
  connector connector_;
  std::unique_ptr<acceptor> acceptor_;

  // The I/O thread's.
  std::vector<shared_record> closing_;
  std::atomic<bool> watch_soon_{false};
  std::int64_t next_watch_ns_ = base::never_ns;
  std::int64_t stop_at_ns_ = 0;
  io_thread io_;

  flusher flusher_;
};

}  // namespace ham::transport::tcp
