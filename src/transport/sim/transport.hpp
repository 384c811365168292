// One simulated node's way to the others.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/unique_fd.hpp"
#include "transport/common/pending_endpoints.hpp"
#include "transport/sim/endpoint.hpp"
#include "transport/sim/network.hpp"
#include "transport/transport.hpp"

namespace ham::inline v1::transport::sim {

/// What it hears of other nodes is told on a thread of its own, as transports between processes do.
class node_transport : public transport {
 public:
  /// `memory` nullptr: no one-sided access, so that everything travels in messages.
  node_transport(network& among, node_t self, base::heap* memory, observer& to)
      : node_transport(among, self, memory, to, memory != nullptr) {}
  ~node_transport() override;

  [[nodiscard]] const char* name() const noexcept override { return "sim"; }
  void connect(node_t peer) override;
  [[nodiscard]] endpoint* poll(frame& out, unsigned polls) override;
  [[nodiscard]] bool arm() override;
  void disarm() noexcept override { armed_.store(false, std::memory_order_seq_cst); }
  [[nodiscard]] int wake_fd() const noexcept override { return event_.get(); }
  [[nodiscard]] std::int64_t max_sleep_ns() const noexcept override;
  [[nodiscard]] std::int64_t peer_pid(node_t node) const noexcept override { return network_.directing().pid_of(node); }
  void forget(endpoint& with) noexcept override;
  void wake() noexcept override;
  void shutdown() noexcept override;

  // ---- of the network, with its lock
  void on_news(news what);
  /// Something is on its way to this node.
  void look_again() noexcept {
    if (armed_.load(std::memory_order_seq_cst)) wake();
  }

 protected:
  /// `reaches_others`: it has one-sided access to their memory, whether they have it to its own or not.
  node_transport(network& among, node_t self, base::heap* memory, observer& to, bool reaches_others);

 private:
  void report_news();
  void introduce(const news& what);
  void adopt_pending();
  [[nodiscard]] std::int64_t next_arrival_ns() const;

  network& network_;
  const node_t self_;
  observer& observer_;
  const bool one_sided_;
  base::unique_fd event_;
  std::atomic<bool> armed_{false};
  pending_endpoints<sim_endpoint> pending_;
  std::vector<std::unique_ptr<sim_endpoint>> endpoints_;
  std::vector<std::unique_ptr<sim_endpoint>> leaving_;  // forgotten since the last poll
  std::size_t cursor_ = 0;

  std::mutex mutex_;  // what follows
  std::condition_variable news_here_;
  std::deque<news> news_;
  bool stop_ = false;
  std::thread reporter_;
};

}  // namespace ham::transport::sim
