// The host's side of the emulated link: makes the memory, starts the targets, sees who dies.
#pragma once

#include <string>
#include <vector>

#include "transport/common/target_supervisor.hpp"
#include "transport/emulated/link_transport.hpp"

namespace ham::inline v1::transport::emulated {

struct target_plan {
  target_supervisor::plan process;
  medium costs;
  std::uint32_t running = 2;  ///< nodes of the job that live, with this one
};

class host_transport final : public link_transport {
 public:
  /// Of the node `self`. Does not start anything yet. `heap_fd`, of the memory that targets may reach, stays the
  /// caller's.
  host_transport(node_t self, int heap_fd, observer& to);
  ~host_transport() override;

  /// Starts targets of a job of `nodes` nodes. Throws ham::config_error.
  void start(const std::vector<target_plan>& plans, std::uint32_t nodes);
  /// Sees to it that a target which was told to end does so within `timeout`. Does not wait.
  void end(node_t node, std::chrono::milliseconds timeout) { children_.end(node, timeout); }

  void connect(node_t) override {}  // every target is connected to the host from its start
  [[nodiscard]] std::int64_t peer_pid(node_t node) const noexcept override { return children_.pid(node); }
  void shutdown() noexcept override { children_.stop(); }

 protected:
  void forgotten(node_t) noexcept override { expect_one_less(); }

 private:
  void start_one(const target_plan& plan, std::uint32_t nodes);

  const node_t self_;
  int heap_fd_;
  std::uint32_t next_epoch_;
  target_supervisor children_;
};

}  // namespace ham::transport::emulated
