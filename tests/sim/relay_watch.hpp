// The credits of nodes that reach each other through the host, held against the frames that they send and take.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "ham/misc/types.hpp"
#include "transport/sim/network.hpp"

namespace ham::inline v1::sim {

/// What is wrong ends the simulation.
class relay_watch {
 public:
  /// A frame leaves a node for another one, and is taken there.
  void note_sent(node_t from, node_t to, const transport::sim::packet& what);
  void note_consumed(node_t from, node_t to, const transport::sim::packet& what);
  /// Of connections that have not ended, between nodes that have not `gone`: what has not arrived, or not been
  /// acknowledged, at a time when nobody sends anything; empty: nothing.
  [[nodiscard]] std::string unacknowledged(const std::function<bool(node_t)>& gone) const;

 private:
  /// From one node to another: the cost of frames.
  struct flow {
    std::uint64_t sent = 0;
    std::uint64_t taken = 0;
    std::uint64_t acknowledged = 0;
    bool ended = false;
  };
  std::map<std::pair<node_t, node_t>, flow> flows_;  // from, to
};

}  // namespace ham::sim
