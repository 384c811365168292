// A simulated job: its processes, its network, and what may happen to them.
#pragma once

#include <functional>
#include <memory>
#include <set>

#include "sim/scheduler.hpp"
#include "transport/sim/network.hpp"

namespace ham::sim {

struct network_conditions {
  std::int64_t mean_delay_ns = 2'000;
  std::size_t frames = 16;  ///< that a link holds
};

class world final : public transport::sim::director {
 public:
  explicit world(const network_conditions& conditions);
  ~world() override;

  [[nodiscard]] transport::sim::network& net() noexcept { return network_; }
  /// Runs main on the host, and returns when it has ended or was killed, and all targets have ended.
  void run_host(const std::function<void()>& main);
  /// Targets that were ever started.
  [[nodiscard]] const std::set<node_t>& targets() const noexcept { return targets_; }

  [[nodiscard]] std::int64_t delay_ns(node_t from, node_t to) override;
  [[nodiscard]] std::size_t capacity(node_t, node_t) override { return conditions_.frames; }
  /// Small, so that much is cut into pieces.
  [[nodiscard]] std::size_t max_payload() const override { return 512; }
  void start(std::unique_ptr<transport::target_side> target, transport::company others) override;
  void end(node_t node, std::chrono::milliseconds timeout) override;

 private:
  void await_end(node_t node);

  network_conditions conditions_;
  transport::sim::network network_;
  std::set<node_t> targets_;
};

}  // namespace ham::sim
