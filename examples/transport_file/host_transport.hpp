// The host's side: makes the files, starts the targets, sees who dies.
#pragma once

#include <chrono>
#include <string>

#include "file_transport.hpp"
#include "transport/common/target_supervisor.hpp"

namespace ham::inline v1::transport::file {

class host_transport final : public file_transport {
 public:
  /// Of the node `self`. Does not start anything yet. Throws ham::config_error.
  host_transport(node_t self, observer& to);
  ~host_transport() override;

  /// Starts a target of a job of `nodes` nodes, of which `running` live; its files are in `folder`. Throws
  /// ham::config_error.
  void start(const target_supervisor::plan& what, const std::string& folder, std::uint32_t nodes,
             std::uint32_t running);
  /// Sees to it that a target which was told to end does so within `timeout`. Does not wait.
  void end(node_t node, std::chrono::milliseconds timeout) { children_.end(node, timeout); }

  void connect(node_t) override {}  // every target is connected to the host from its start
  [[nodiscard]] std::int64_t peer_pid(node_t node) const noexcept override { return children_.pid(node); }
  void shutdown() noexcept override { children_.stop(); }

 protected:
  void forgotten(node_t) noexcept override { expect_one_less(); }

 private:
  void on_end(node_t node, const std::string& reason, target_supervisor::child_end how);

  const node_t self_;
  target_supervisor children_;
};

}  // namespace ham::transport::file
