// What host and target of emulated links have in common.
#pragma once

#include <deque>
#include <memory>
#include <mutex>

#include "base/memory_file.hpp"
#include "base/process.hpp"
#include "transport/common/polled_transport.hpp"
#include "transport/emulated/messages.hpp"

namespace ham::transport::emulated {

class link_transport : public polled_transport {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "emulated"; }
  [[nodiscard]] bool crowded() const noexcept override { return nodes_.load(std::memory_order_relaxed) > cores_; }

 protected:
  explicit link_transport(observer& to) : polled_transport(to, {}) {}

  /// Connects the two ends of `memory`, which this end keeps. `peer_heap`: what a put or get reaches.
  void add(node_t peer, const welcome& said, unsigned side, base::mapping memory, base::unique_fd peer_heap);
  void expect_nodes(std::uint32_t nodes) noexcept { nodes_.store(nodes); }
  [[nodiscard]] bool looks_are_cheap() const noexcept override { return cheap_.load(std::memory_order_relaxed); }

 private:
  const unsigned cores_ = base::usable_cores();
  std::atomic<unsigned> nodes_{2};
  std::atomic<bool> cheap_{true};  // until there is a link on which this side makes the journeys
  std::mutex mutex_;
  std::deque<base::mapping> segments_;
};

}  // namespace ham::transport::emulated
