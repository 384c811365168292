// What host and target of emulated links have in common.
#pragma once

#include <atomic>

#include "base/memory_file.hpp"
#include "base/process.hpp"
#include "transport/common/polled_transport.hpp"
#include "transport/emulated/messages.hpp"

namespace ham::transport::emulated {

class link_transport : public polled_transport {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "emulated"; }
  [[nodiscard]] bool oversubscribed() const noexcept override {
    return running_.load(std::memory_order_relaxed) > cores_;
  }

 protected:
  explicit link_transport(observer& to) : polled_transport(to, {}) {}

  /// Connects the two ends of `memory`, which the endpoint keeps. `peer_heap`: what a put or get reaches.
  void add(node_t peer, const welcome& said, unsigned side, base::mapping memory, base::unique_fd peer_heap);
  /// So many nodes want to run on this machine.
  void expect_running(std::uint32_t nodes) noexcept { running_.store(nodes); }
  void expect_one_less() noexcept { running_.fetch_sub(1); }
  [[nodiscard]] bool polls_are_cheap() const noexcept override { return cheap_.load(std::memory_order_relaxed); }

 private:
  const unsigned cores_ = base::usable_cores();
  std::atomic<unsigned> running_{2};
  std::atomic<bool> cheap_{true};  // until there is a link on which this side initiates the accesses
};

}  // namespace ham::transport::emulated
