// The host's side of devices: starts a target process for each and exchanges frames with it through shared memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "base/process.hpp"
#include "transport/common/ring_transport.hpp"
#include "transport/common/target_supervisor.hpp"
#include "transport/cuda/bell_page.hpp"
#include "transport/cuda/messages.hpp"

namespace ham::inline v1::transport::cuda {

struct target_plan {
  target_supervisor::plan process;
  geometry device;
  std::uint32_t running = 2;  ///< nodes of the job that live, with this one
};

class host_transport final : private bell_page, public ring_transport {
 public:
  /// Of the node `self`. Does not start anything yet. `transport`: how HAM_NODES names it; `heap_fd`, of the memory
  /// that targets may reach, stays the caller's.
  host_transport(std::string transport, node_t self, int heap_fd, observer& to);
  ~host_transport() override;

  /// Starts targets of a job of `nodes` nodes. Throws ham::config_error.
  void start(const std::vector<target_plan>& plans, std::uint32_t nodes);
  /// Sees to it that a target which was told to end does so within `timeout`. Does not wait.
  void end(node_t node, std::chrono::milliseconds timeout) { children_.end(node, timeout); }

  [[nodiscard]] const char* name() const noexcept override { return name_.c_str(); }
  void connect(node_t) override {}  // every target is connected to the host from its start
  [[nodiscard]] std::int64_t peer_pid(node_t node) const noexcept override { return children_.pid(node); }
  [[nodiscard]] bool oversubscribed() const noexcept override { return running_.load() > cores_; }
  void forget(endpoint& with) noexcept override;
  void shutdown() noexcept override { children_.stop(); }

 private:
  void start_one(const target_plan& plan, std::uint32_t nodes);

  const std::string name_;
  const node_t self_;
  const int heap_fd_;
  const unsigned cores_ = base::usable_cores();
  std::atomic<std::uint32_t> running_{2};
  std::uint32_t next_epoch_;
  target_supervisor children_;
};

}  // namespace ham::transport::cuda
