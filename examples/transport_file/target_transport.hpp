// A target's side: joins the job it was started for, ends with its host.
#pragma once

#include <memory>
#include <utility>

#include "file_transport.hpp"
#include "transport/common/host_watch.hpp"

namespace ham::inline v1::transport::file {

/// What a target gets from its host before anything else.
struct invitation {
  base::unique_fd control;
  file_pair files;
  welcome said;

  /// Reads the welcome from an inherited control socket. Throws ham::config_error, after telling the host why.
  [[nodiscard]] static invitation accept(int control_fd);
};

class target_transport final : public file_transport {
 public:
  static std::unique_ptr<target_transport> make(invitation from, observer& to) {
    return std::make_unique<target_transport>(std::move(from), to);
  }
  target_transport(invitation from, observer& to);
  ~target_transport() override;

  /// Connects to the host; observer::on_connected follows at once.
  void join();

  void connect(node_t peer) override;
  void shutdown() noexcept override;

 private:
  invitation invitation_;
  std::unique_ptr<host_watch> watch_;
};

}  // namespace ham::transport::file
