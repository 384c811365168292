// What a target of an emulated link is told first, beside the descriptors of the segment and of both heaps.
#pragma once

#include <cstdint>

#include "ham/error.hpp"
#include "transport/common/one_sided_layout.hpp"
#include "transport/emulated/medium.hpp"

namespace ham::inline v1::transport::emulated {

struct welcome {
  static constexpr std::uint32_t protocol = 4;
  std::uint32_t version = protocol;
  std::int32_t node = 0;
  std::int32_t host = 0;      ///< who has started it
  std::uint32_t nodes = 0;    ///< numbers that the job has given so far
  std::uint32_t running = 0;  ///< nodes of the job that run on this machine
  std::uint32_t epoch = 0;
  one_sided_layout layout;
  medium costs;

  [[nodiscard]] bool sane() const noexcept { return layout.sane() && costs.sane(); }
};

/// Direction in which each side sends.
inline constexpr unsigned host_side = 0;
inline constexpr unsigned target_side = 1;

/// How the ring is used over such a link: while a write over the link is waited for, there is none only to say that
/// a message was taken.
[[nodiscard]] inline one_sided_terms terms_of(const welcome& said, unsigned side) noexcept {
  return {said.layout, said.epoch, side, said.costs.posted != 0};
}

}  // namespace ham::transport::emulated
