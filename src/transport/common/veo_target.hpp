// What targets on Vector Engines have in common: they were told everything, and know their host only.
#pragma once

#include <unistd.h>

#include "transport/common/polled_transport.hpp"
#include "transport/common/veo_welcome.hpp"

namespace ham::inline v1::transport::veo {

class veo_target : public polled_transport {
 public:
  /// Connects to the host; observer::on_connected follows at once. Throws ham::config_error.
  virtual void join() = 0;

#ifndef __ve__
  [[nodiscard]] const char* device_type() const noexcept override { return "emulated"; }
#endif
  void connect(node_t peer) override { observing().on_lost(peer, "a target on a Vector Engine reaches its host only"); }
  void shutdown() noexcept override {}

 protected:
  /// `said` is what the host has left here; it outlives this.
  veo_target(welcome& said, observer& to) : polled_transport(to, {}), said_(said) {
    said.pid = static_cast<std::int32_t>(::getpid());
  }
  [[nodiscard]] const welcome& said() const noexcept { return said_; }

 private:
  welcome& said_;
};

}  // namespace ham::transport::veo
