// Many small calls as fast as they go: batches and pipelined calls, every result checked.
#pragma once

#include <cstdint>

namespace soak {

/// Makes `count` calls of node 1 and tells how far it is, once a second. False: a result was wrong, or calls were lost
/// or ran twice.
[[nodiscard]] bool flood(std::uint64_t count);

}  // namespace soak
