// The host's side of VEO: the ring is in the Vector Engine's memory, the host makes all transfers (paper 1, Fig. 5).
#pragma once

#include "transport/common/veo_host.hpp"

namespace ham::inline v1::transport::veo {

class host_transport final : public veo_host {
 public:
  /// Of the node `self`. Loads libveo. Throws ham::config_error.
  host_transport(node_t self, observer& to);
  ~host_transport() override { shutdown(); }

  [[nodiscard]] const char* name() const noexcept override { return "veo"; }

 protected:
  [[nodiscard]] bool polls_are_cheap() const noexcept override { return false; }
  [[nodiscard]] std::unique_ptr<polled_endpoint> make_ring(const engine_process& process, welcome& said) override;
};

}  // namespace ham::transport::veo
