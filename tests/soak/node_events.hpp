// What offload::on_event says of the nodes that come and go, against what was done to them.
#pragma once

#include <memory>

#include "soak/seats.hpp"

namespace soak {

/// Has the handler of the runtime while it lives.
class node_events {
 public:
  node_events();
  node_events(const node_events&) = delete;
  node_events& operator=(const node_events&) = delete;
  ~node_events();

  /// Each node that was put in the place of another one is said to have joined, each that was killed or removed to be
  /// lost, once, and nobody else is; no death is orderly. Nothing may be under way; waits for what is late.
  void check(const seats& all) const;

 private:
  struct counts;
  const std::shared_ptr<counts> counts_;  ///< another thread may be in the handler when that has been taken away
};

}  // namespace soak
