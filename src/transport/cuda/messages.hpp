// What the target process of a device is told first, beside the descriptors of what it shares with its host.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ham/error.hpp"
#include "transport/cuda/geometry.hpp"

namespace ham::inline v1::transport::cuda {

struct welcome {
  static constexpr std::uint32_t protocol = 5;
  std::uint32_t version = protocol;
  std::int32_t node = 0;
  std::int32_t host = 0;      ///< who has started it
  std::uint32_t nodes = 0;    ///< numbers that the job has given so far
  std::uint32_t running = 0;  ///< nodes of the job that run on this machine
  std::uint32_t epoch = 0;
  geometry device;

  [[nodiscard]] bool sane() const noexcept { return device.sane(); }
};

/// The descriptors that come with it, in this order: bells, rings, both heaps, the events of both.
inline constexpr std::size_t welcome_fds = 6;

}  // namespace ham::transport::cuda
