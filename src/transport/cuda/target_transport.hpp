// The side of a device's target process: joins the job it was started for, ends with its host, has the device.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "base/process.hpp"
#include "transport/common/host_watch.hpp"
#include "transport/common/ring_transport.hpp"
#include "transport/cuda/bell_page.hpp"
#include "transport/cuda/messages.hpp"
#include "transport/device.hpp"

namespace ham::inline v1::transport::cuda {

/// What a target gets from its host before anything else.
struct invitation {
  base::unique_fd control, bells, rings, own_heap, host_heap, own_event, host_event;
  welcome said;

  /// Reads the welcome from an inherited control socket. Throws ham::config_error, after telling the host why.
  static invitation accept(int control_fd);
};

class target_transport final : private bell_page, public ring_transport, public device_owner {
 public:
  /// The invitation's own_heap has been taken by the caller. Throws ham::config_error.
  static std::unique_ptr<target_transport> make(invitation from, observer& to) {
    return std::make_unique<target_transport>(std::move(from), to);
  }
  /// Opens the device: a real one may take seconds. One that cannot be used is told to the host.
  target_transport(invitation from, observer& to);
  ~target_transport() override;

  /// Connects to the host; observer::on_connected follows at once. Throws ham::config_error.
  void join();

  [[nodiscard]] const char* name() const noexcept override { return type_; }
  [[nodiscard]] const char* device_type() const noexcept override { return type_; }
  [[nodiscard]] bool oversubscribed() const noexcept override { return invitation_.said.running > cores_; }
  void connect(node_t peer) override;
  void shutdown() noexcept override;

  [[nodiscard]] std::unique_ptr<device_driver> take_device() override { return std::move(device_); }
  [[nodiscard]] std::unique_ptr<device_memory> take_memory() override;
  [[nodiscard]] limits device_limits() const noexcept override {
    return {invitation_.said.device.linger_ns, invitation_.said.device.watchdog_ns};
  }

 private:
  const unsigned cores_ = base::usable_cores();
  invitation invitation_;
  std::unique_ptr<device_driver> device_;
  std::unique_ptr<device_memory> memory_;
  const char* const type_;  // as long as the process
  std::unique_ptr<host_watch> watch_;
};

}  // namespace ham::transport::cuda
