// What host and target of an emulated link have in common.
#pragma once

#include <atomic>

#include "base/memory_file.hpp"
#include "transport/common/supervised_transport.hpp"
#include "transport/emulated/messages.hpp"

namespace ham::inline v1::transport::emulated {

class link_transport : public supervised_transport {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "emulated"; }

 protected:
  explicit link_transport(observer& to) : supervised_transport(to) {}

  /// Connects the two ends of `memory`, which the endpoint keeps. `peer_heap`: what a put or get reaches.
  void add(node_t peer, const welcome& said, unsigned side, base::mapping memory, base::unique_fd peer_heap);
  [[nodiscard]] bool polls_are_cheap() const noexcept override { return cheap_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> cheap_{true};  // until there is a link on which this side initiates the accesses
};

}  // namespace ham::transport::emulated
