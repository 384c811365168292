// The host's side of user DMA: the ring is in its memory, the Vector Engine makes all transfers (paper 1, Fig. 8).
#pragma once

#include "transport/common/veo_host.hpp"
#include "transport/vedma/segment.hpp"

namespace ham::inline v1::transport::vedma {

class host_transport final : public veo::veo_host {
 public:
  /// Of the node `self`. Loads libveo. Throws ham::config_error.
  host_transport(node_t self, observer& to) : veo_host(self, to, {}) {}
  ~host_transport() override { shutdown(); }

  [[nodiscard]] const char* name() const noexcept override { return "vedma"; }

 protected:
  [[nodiscard]] bool polls_are_cheap() const noexcept override { return true; }
  [[nodiscard]] std::unique_ptr<polled_endpoint> make_ring(const veo::engine_process& process,
                                                           veo::welcome& said) override;
};

}  // namespace ham::transport::vedma
