// A target's side of user DMA: it fetches its messages from the host's memory and puts its results there.
#pragma once

#include "transport/common/veo_target.hpp"

namespace ham::inline v1::transport::vedma {

class target_transport final : public veo::veo_target {
 public:
  target_transport(veo::welcome& said, observer& to) : veo_target(said, to) {}

  void join() override;
  [[nodiscard]] const char* name() const noexcept override { return "vedma"; }

 protected:
  [[nodiscard]] bool polls_are_cheap() const noexcept override { return false; }
};

}  // namespace ham::transport::vedma
