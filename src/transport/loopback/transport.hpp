// Nodes that are threads of one process: for tests, debuggers and sanitizers.
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "base/heap.hpp"
#include "transport/common/ring_transport.hpp"

namespace ham::inline v1::transport::loopback {

class node_transport;

/// What the nodes of one loopback job share.
class cluster {
 public:
  explicit cluster(std::size_t nodes);

  /// Connects two nodes that have both joined, once; false if one of them has left.
  bool introduce(node_t first, node_t second);

 private:
  friend class node_transport;
  struct seat {
    std::unique_ptr<bell> ring_me = std::make_unique<bell>();
    base::unique_fd event;
    node_transport* here = nullptr;  // guarded by mutex_
    base::heap* memory = nullptr;
  };

  std::mutex mutex_;
  std::vector<seat> seats_;
  std::vector<std::unique_ptr<std::byte[]>> pairs_;
  std::set<std::pair<node_t, node_t>> introduced_;
  std::uint32_t epoch_ = 0x68616d;
};

class node_transport final : public ring_transport {
 public:
  /// `memory` nullptr: no one-sided access, so that everything travels in messages.
  node_transport(std::shared_ptr<cluster> job, node_t self, base::heap* memory, observer& to);
  ~node_transport() override;

  [[nodiscard]] const char* name() const noexcept override { return "loopback"; }
  void connect(node_t peer) override;
  void shutdown() noexcept override;

 private:
  friend class cluster;
  std::shared_ptr<cluster> job_;
  node_t self_;
};

}  // namespace ham::transport::loopback
