// A simulated job: its processes, its network, and what may happen to them.
#pragma once

#include <functional>
#include <memory>
#include <set>

#include "sim/scheduler.hpp"
#include "transport/sim/network.hpp"

namespace ham::inline v0::sim {

struct network_conditions {
  std::int64_t mean_delay_ns = 2'000;
  std::size_t frames = 16;  ///< that a link holds
  std::size_t max_payload = 512;
};

class world : public transport::sim::director {
 public:
  /// Its processes are numbered from `first_process` on, the host's first.
  world(const network_conditions& conditions, int first_process);
  ~world() override;

  [[nodiscard]] transport::sim::network& net() noexcept { return network_; }
  /// Runs main on the host, and returns when that has ended or was killed.
  void run_host(const std::function<void()>& main);
  /// Returns when all targets have ended, which they must when their host has.
  void await_targets();
  /// Of a node, for the scheduler.
  [[nodiscard]] int process_of(node_t node) const noexcept { return first_process_ + node; }
  /// Targets that were ever started.
  [[nodiscard]] const std::set<node_t>& targets() const noexcept { return targets_; }

  [[nodiscard]] std::int64_t delay_ns(node_t from, node_t to) override;
  [[nodiscard]] std::size_t capacity(node_t, node_t) override { return conditions_.frames; }
  [[nodiscard]] std::size_t max_payload() const override { return conditions_.max_payload; }
  void start(std::unique_ptr<transport::target_side> target, transport::company others) override;
  void end(node_t node, std::chrono::milliseconds timeout) override;

 private:
  void await_end(node_t node);

  network_conditions conditions_;
  int first_process_;
  transport::sim::network network_;
  std::set<node_t> targets_;
};

}  // namespace ham::sim
