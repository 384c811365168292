// What a group of devices says: the size of each, and of real GPUs their numbers.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "transport/cuda/geometry.hpp"
#include "transport/factory.hpp"

namespace ham::inline v1::transport::cuda {

struct group_geometry final : group_settings {
  explicit group_geometry(const geometry& said, std::vector<int> numbers = {}) : of(said), gpus(std::move(numbers)) {}

  /// The device of a member of the group, which is counted from 0: of real GPUs the listed numbers in turn, or its own.
  [[nodiscard]] geometry of_member(std::size_t member) const {
    geometry result = of;
    if (of.gpu != geometry::emulated) result.gpu = gpus.empty() ? static_cast<int>(member) : gpus[member % gpus.size()];
    return result;
  }

  const geometry of;
  const std::vector<int> gpus;
};

}  // namespace ham::transport::cuda
