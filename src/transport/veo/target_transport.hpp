// A target's side of VEO: everything is in its own memory, where the host reads and writes.
#pragma once

#include "transport/common/veo_target.hpp"

namespace ham::inline v1::transport::veo {

class target_transport final : public veo_target {
 public:
  target_transport(welcome& said, observer& to) : veo_target(said, to) {}

  void join() override;
  [[nodiscard]] const char* name() const noexcept override { return "veo"; }

 protected:
  [[nodiscard]] bool polls_are_cheap() const noexcept override { return true; }
};

}  // namespace ham::transport::veo
