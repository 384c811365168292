// What the host is told of its nodes (offload::on_event), held against what has become of them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ham/offload/event.hpp"
#include "sim/scheduler.hpp"
#include "sim/world.hpp"

namespace ham::inline v1::sim {

/// Of one job; it outlives the job's runtime. What is wrong ends the simulation.
class event_watch {
 public:
  /// `first_nodes`: the job has them from the start, host included. `may_be_lost`: whether a process may be, by now.
  event_watch(std::uint64_t seed, int first_nodes, world& in, std::function<bool(node_t)> may_be_lost)
      : random_(seed), first_nodes_(first_nodes), world_(in), may_be_lost_(std::move(may_be_lost)) {}
  event_watch(const event_watch&) = delete;
  event_watch& operator=(const event_watch&) = delete;

  /// Events of the calling thread's runtime are reported to it from now on.
  void begin();
  /// At the end of the job: what has happened was reported, each once, or soon is. `numbers`: those that the job has.
  void expect_all_reported(const std::vector<node_t>& numbers);

 private:
  void note(const offload::event& what);
  [[nodiscard]] std::string missing(const std::vector<node_t>& numbers) const;

  random_source random_;
  const int first_nodes_;
  world& world_;
  const std::function<bool(node_t)> may_be_lost_;
  bool handles_one_ = false;
  std::map<node_t, unsigned> joined_;  ///< by process
  std::map<node_t, unsigned> lost_;
  std::map<node_t, unsigned> respawned_;  ///< by supervised number
};

}  // namespace ham::sim
