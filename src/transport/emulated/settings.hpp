// What a group of emulated targets says: the costs of each target's link.
#pragma once

#include "transport/emulated/medium.hpp"
#include "transport/factory.hpp"

namespace ham::inline v1::transport::emulated {

struct group_medium final : group_settings {
  explicit group_medium(const medium& said) : costs(said) {}
  const medium costs;
};

}  // namespace ham::transport::emulated
