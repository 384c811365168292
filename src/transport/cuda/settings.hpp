// What a group of devices says: the size of each, and of real GPUs their numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "transport/cuda/geometry.hpp"
#include "transport/factory.hpp"

namespace ham::inline v1::transport::cuda {

struct group_geometry final : group_settings {
  explicit group_geometry(const geometry& said, std::vector<int> numbers = {}) : of(said), gpus(std::move(numbers)) {}

  /// The device of a member of the group, which is counted from 0, of `count`: of real GPUs the listed numbers in turn,
  /// or its own.
  [[nodiscard]] geometry of_member(std::size_t member, std::size_t count) const {
    geometry result = of;
    if (of.gpu == geometry::emulated) return result;
    result.gpu = gpu_of(member);
    std::uint32_t nodes = 0;
    for (std::size_t other = 0; other < count; ++other) nodes += gpu_of(other) == result.gpu ? 1 : 0;
    result.nodes_on_gpu = std::max<std::uint32_t>(1, nodes);
    return result;
  }

  const geometry of;
  const std::vector<int> gpus;

 private:
  [[nodiscard]] int gpu_of(std::size_t member) const {
    return gpus.empty() ? static_cast<int>(member) : gpus[member % gpus.size()];
  }
};

}  // namespace ham::transport::cuda
