// A simulated job: its processes, its network, and what may happen to them.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "sim/relay_watch.hpp"
#include "sim/scheduler.hpp"
#include "transport/sim/network.hpp"

namespace ham::inline v1::sim {

struct network_conditions {
  std::int64_t mean_delay_ns = 2'000;
  std::size_t frames = 16;  ///< that a link holds
  std::size_t max_payload = 512;
  std::uint64_t devices = 0;  ///< decides which targets have devices, and of what size; 0: none
  /// How long a device function may go on that is to stop; 0: as long as a device lets it by itself.
  std::int64_t watchdog_ns = 0;
  bool has_process_numbers = false;  ///< by which hosts can end their targets
};

class world : public transport::sim::director {
 public:
  /// Of each job: the processes of the next one are numbered from here on.
  static constexpr int processes_of_job = sim::processes_of_job;

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
  /// The node whose thread calls, of whichever job.
  [[nodiscard]] static node_t node_here() noexcept { return running->current().node % processes_of_job; }
  /// Whether the process of a node is there, of the job of the calling thread.
  [[nodiscard]] static bool lives(node_t node) noexcept;
  /// Is done with the next target that is started, once.
  void at_next_start(std::function<void(node_t)> what) { at_next_start_ = std::move(what); }
  /// Targets that were ever started.
  [[nodiscard]] const std::set<node_t>& targets() const noexcept { return targets_; }

  /// The device of the process whose thread calls; nullptr: none.
  [[nodiscard]] static transport::device_driver* device_here() noexcept;
  /// Whether the target has a device, if there is such a target.
  [[nodiscard]] bool has_device(node_t node) const noexcept;

  /// The process whose thread calls is killed when it has sent its host this answer, before it wakes it.
  static void die_behind(std::int64_t answer);
  /// Whether the node has sent the answer behind which it is killed.
  [[nodiscard]] bool has_answered(node_t node) const;
  /// What nodes that reach each other through the host have not acknowledged, but for nodes that may be lost; empty:
  /// nothing.
  [[nodiscard]] std::string unacknowledged(const std::function<bool(node_t)>& may_be_lost);

  void on_sent(node_t from, node_t to, transport::sim::packet& what) override;
  void on_consumed(node_t from, node_t to, const transport::sim::packet& what) override;
  [[nodiscard]] std::int64_t delay_ns(node_t from, node_t to) override;
  [[nodiscard]] std::size_t capacity(node_t, node_t) override { return conditions_.frames; }
  [[nodiscard]] std::size_t max_payload() const override { return conditions_.max_payload; }
  [[nodiscard]] transport::sim::node_device device_of(node_t node) override;
  void start(std::unique_ptr<transport::target_side> target, transport::company others) override;
  void end(node_t node, std::chrono::milliseconds timeout) override;
  [[nodiscard]] std::int64_t pid_of(node_t node) const noexcept override;

 private:
  void await_end(node_t node);

  network_conditions conditions_;
  int first_process_;
  transport::sim::network network_;
  relay_watch relays_;  ///< with the network's lock
  std::set<node_t> targets_;
  std::function<void(node_t)> at_next_start_;
};

}  // namespace ham::sim
