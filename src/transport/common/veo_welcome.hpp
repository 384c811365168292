// What the host leaves in a Vector Engine's memory before it calls ham_main there (paper 1, Fig. 4).
#pragma once

#include <cstdint>

#include "transport/common/one_sided_layout.hpp"

namespace ham::inline v1::transport::veo {

enum class ring_place : std::uint32_t {
  engine_memory = 1,  ///< at `ring`; the host makes the transfers (Fig. 5)
  host_segment = 2,   ///< in the SysV segment with the identifier `ring`; the Vector Engine makes them (Fig. 7, 8)
};

/// At the address that ham_main is given.
struct welcome {
  static constexpr std::uint64_t protocol = 0x3330'6f65'766d'6168;  // "hamveo03"
  std::uint64_t version = protocol;
  std::uint64_t ring = 0;
  std::uint64_t main = 0;  ///< of the application, 0: it has none
  ring_place place = ring_place::engine_memory;
  std::int32_t node = 0;
  std::int32_t host = 0;  ///< who has started it
  std::uint32_t nodes = 0;
  std::uint32_t epoch = 0;
  one_sided_layout layout;
  std::uint64_t heap = 0;  ///< written by the target: where base::heap begins there
  std::int32_t pid = 0;    ///< written by the target: who can be ended if it does not listen any more

  [[nodiscard]] bool sane() const noexcept {
    return version == protocol && node > 0 && host >= 0 && host != node && nodes > 1 && layout.sane();
  }
  /// Over VEO a transfer only to say that a message was taken would cost as much as the message.
  [[nodiscard]] one_sided_terms terms(unsigned side) const noexcept {
    return {layout, epoch, side, place == ring_place::host_segment};
  }
};

inline constexpr unsigned host_side = 0;
inline constexpr unsigned target_side = 1;

}  // namespace ham::transport::veo
