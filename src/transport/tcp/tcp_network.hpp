// A node's connections to the peers of its job.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "transport/network.hpp"
#include "transport/tcp/address.hpp"
#include "transport/tcp/bulk_client.hpp"
#include "transport/tcp/flusher.hpp"
#include "transport/tcp/reception.hpp"
#include "transport/tcp/tcp_endpoint.hpp"

namespace ham::transport::tcp {

/// The job that a key stands for. If the key is secret, it says nothing about the key to who cannot guess it.
[[nodiscard]] job_id id_of(const secret_key& key, bool secure);

/// Three kinds of threads besides the caller's: the keeper connects, accepts and notices losses, the flusher sends what
/// bursts left, and one thread per lane serves accesses to this node's memory (docs/thread-model.md).
class tcp_network final : public network, private endpoint_owner {
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
  [[nodiscard]] endpoint* poll(frame& out, unsigned looks) override;
  [[nodiscard]] bool arm() override;
  void disarm() noexcept override;
  [[nodiscard]] int wake_fd() const noexcept override { return sockets_.get(); }
  void wake() noexcept override;
  void shutdown() noexcept override;
  void forget(endpoint& with) noexcept override;

 private:
  /// What the keeper's epoll points at.
  struct source {
    enum class kind : std::uint8_t { peer, attempt } what;
  };
  struct peer_record : source {
    std::unique_ptr<tcp_endpoint> end;
    std::shared_ptr<bulk_client> bulk;  // nullptr: the peer offers no memory
    socket_address bulk_address;        // of size 0: unknown
    std::vector<std::shared_ptr<lane>> served;
    std::size_t lanes_begun = 0;  // attempts to open one that the peer has asked for
    std::int64_t bury_ns = 0;     // keeper's; 0: not yet
    bool buried = false;
    bool forgotten = false;
  };
  using shared_record = std::shared_ptr<peer_record>;  // of those that work on it, besides peers_
  struct attempt;
  struct resolver {
    std::thread thread;
    std::shared_ptr<std::atomic<bool>> over;
  };
  struct lane_thread {
    std::shared_ptr<lane> on;
    std::thread thread;
  };

  // ---- endpoint_owner
  void hurry() noexcept override { flusher_.hurry(); }
  void nudge() noexcept override { flusher_.nudge(); }
  void lost(tcp_endpoint& which, const std::string& reason) noexcept override;
  void broken(tcp_endpoint& which, const std::string& reason) noexcept override;
  void closed(tcp_endpoint& which) noexcept override;
  void dried_up(tcp_endpoint& which) noexcept override;
  void lane_wanted(tcp_endpoint& which) noexcept override;
  void watch_soon() noexcept override;

  // ---- connecting (tcp_network_connect.cpp), on the keeper's thread unless said otherwise
  void begin(node_t peer, const std::string& address, std::shared_ptr<const tls_context> key, purpose what);
  void resolved(std::unique_ptr<attempt> fresh, const std::string& why);
  [[nodiscard]] bool exposed(const attempt& which, const socket_address& to) const noexcept;
  void try_next(attempt& which);
  void advance(attempt& which);
  [[nodiscard]] bool comes_again(attempt& which);
  void arrive(attempt& which);
  void give_up(attempt& which, std::string why);
  void drop(attempt& which);
  void welcome_guest(connection with, const hello& theirs);
  void welcome_peer(connection with, const hello& theirs);
  void welcome_lane(connection with, const hello& theirs);
  [[nodiscard]] hello hello_for(node_t peer, purpose what, bool to_loopback) const;
  [[nodiscard]] std::uint16_t port_for(int socket) const noexcept;
  bool turn_away(connection& with, const hello& theirs, verdict why) noexcept;
  /// Any thread.
  tcp_endpoint* adopt(node_t peer, connection with, std::uint8_t flags, std::uint16_t port);
  void serve_lane(node_t peer, connection with);
  void reap_lanes();
  void lane_attempt_over(node_t peer) noexcept;
  std::unique_ptr<lane> open_lane(node_t peer);  // the caller's thread

  // ---- the keeper (tcp_network_keeper.cpp)
  void post(std::function<void()> what);
  void keep();
  void handle(const source& what, std::uint32_t events);
  void run_commands();
  void look_after_the_dying(std::int64_t now);
  void watch_all(std::int64_t now);
  [[nodiscard]] std::int64_t next_ns() const;
  void ring_keeper() noexcept;
  void leave_all() noexcept;

  flusher::found flush(bool long_round);
  [[nodiscard]] shared_record record_of(node_t peer);
  [[nodiscard]] std::vector<shared_record> all_records();

  // ---- polling (tcp_network_poll.cpp)
  void take_fresh();
  endpoint* poll_only(frame& out);
  endpoint* poll_many(frame& out);
  endpoint* poll_ready(frame& out);
  void find_ready();
  void push_gathered();
  void list_all();

  const network_options options_;
  const job_id job_;
  base::heap* const memory_;
  observer& observer_;
  const std::size_t streams_;  // of one large transfer
  std::shared_ptr<const tls_context> job_client_;
  std::shared_ptr<const tls_context> job_server_;
  std::unique_ptr<reception> reception_;
  socket_address listening_;
  std::string address_;

  mutable std::mutex mutex_;
  std::map<node_t, shared_record> peers_;  // until they are buried and forgotten
  std::set<node_t> wanted_;                // being connected to by this side
  std::vector<tcp_endpoint*> fresh_;       // not yet polled
  std::vector<std::function<void()>> commands_;
  std::vector<lane_thread> lane_threads_;
  std::vector<resolver> resolvers_;
  bool stopping_ = false;

  // The polling thread's.
  base::unique_fd sockets_;  // epoll over all data sockets and event_
  base::unique_fd event_;
  std::atomic<bool> has_fresh_{false};
  std::vector<tcp_endpoint*> polled_;
  std::vector<tcp_endpoint*> ready_;
  std::vector<shared_record> leaving_;  // forgotten since the last poll
  tcp_endpoint* hot_ = nullptr;
  tcp_endpoint* unlisted_ = nullptr;  // not in sockets_ while it is the only one and busy
  unsigned awake_streak_ = 0;
  unsigned streak_ = 0;
  unsigned looks_ = 0;

  // The keeper's.
  base::unique_fd keeper_epoll_;
  base::unique_fd keeper_event_;
  std::map<attempt*, std::unique_ptr<attempt>> attempts_;
  std::vector<shared_record> dying_;
  std::atomic<bool> watch_soon_{false};
  std::int64_t next_watch_ns_ = base::never_ns;
  std::int64_t stop_at_ns_ = 0;
  std::thread keeper_;

  flusher flusher_;
};

}  // namespace ham::transport::tcp
