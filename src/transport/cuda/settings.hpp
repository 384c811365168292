// What a group of emulated devices says: the size and the link of each.
#pragma once

#include "transport/cuda/geometry.hpp"
#include "transport/factory.hpp"

namespace ham::inline v0::transport::cuda {

struct group_geometry final : group_settings {
  explicit group_geometry(const geometry& said) : of(said) {}
  const geometry of;
};

}  // namespace ham::transport::cuda
