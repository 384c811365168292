// A target's side of an emulated link: joins the job it was started for, ends with its host.
#pragma once

#include <memory>

#include "transport/common/host_watch.hpp"
#include "transport/emulated/link_transport.hpp"

namespace ham::inline v1::transport::emulated {

/// What a target gets from its host before anything else.
struct invitation {
  base::unique_fd control, segment_file, own_heap, host_heap;
  welcome said;

  /// Reads the welcome from an inherited control socket. Throws ham::config_error, after telling the host why.
  static invitation accept(int control_fd);
};

class target_transport final : public link_transport {
 public:
  /// The invitation's own_heap has been taken by the caller.
  static std::unique_ptr<target_transport> make(invitation from, observer& to) {
    return std::make_unique<target_transport>(std::move(from), to);
  }
  target_transport(invitation from, observer& to);
  ~target_transport() override;

  /// Connects to the host; observer::on_connected follows at once. Throws ham::config_error.
  void join();

  [[nodiscard]] const char* device_type() const noexcept override { return "emulated"; }
  void connect(node_t peer) override;
  void shutdown() noexcept override;

 private:
  invitation invitation_;
  std::unique_ptr<host_watch> watch_;
};

}  // namespace ham::transport::emulated
