// Timer descriptors in virtual time.
#pragma once

#include <cstdint>

namespace ham::inline v1::sim {

/// Makes those readable whose time has come. Gives when the next one is due.
std::int64_t fire_timers() noexcept;

}  // namespace ham::sim
