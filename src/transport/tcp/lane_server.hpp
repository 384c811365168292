// The threads that serve peers' accesses to this node's memory, one per lane.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/heap.hpp"
#include "transport/tcp/bulk_client.hpp"
#include "transport/tcp/lane.hpp"

namespace ham::inline v1::transport::tcp {

/// Any thread may call any of it.
class lane_server {
 public:
  static constexpr std::size_t max_lanes_per_peer = 2 * bulk_client::max_lanes;

  /// `memory` nullptr: every access is refused.
  explicit lane_server(base::heap* memory) : memory_(memory) {}
  ~lane_server() { stop(); }
  lane_server(const lane_server&) = delete;
  lane_server& operator=(const lane_server&) = delete;

  /// On a thread of its own from now on; hangs up instead if the peer has as many lanes as it may.
  void serve(node_t peer, connection with);
  /// Lanes of the peer that are being served.
  [[nodiscard]] std::size_t count(node_t peer) const noexcept;
  /// Ends all lanes of the peer. Does not wait.
  void cut(node_t peer) noexcept;
  /// Joins the threads whose lanes have ended.
  void reap() noexcept;
  /// Ends all lanes, waits for them, and serves no others.
  void stop() noexcept;

 private:
  struct served {
    node_t peer;
    std::shared_ptr<lane> on;
    std::thread thread;
  };

  base::heap* const memory_;
  mutable std::mutex mutex_;
  std::vector<served> served_;  // guarded by mutex_
  bool stopping_ = false;       // guarded by mutex_
};

}  // namespace ham::transport::tcp
