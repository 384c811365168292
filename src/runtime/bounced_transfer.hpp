// put and get of memory that is not pinned, through a few pieces of pinned memory: each byte is copied once here, and
// the device reads or writes the pieces itself.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/memory_access.hpp"

namespace ham::inline v1::offload::detail {

/// To a node that copies mapped memory (peer::copies_mapped). Nothing: it goes as any other, as do short ones, those
/// beyond four at once, and all when there is no memory for the pieces. put() waits until most of the bytes have been
/// taken, get() does not wait.
[[nodiscard]] std::optional<future<void>> bounced_transfer(engine& at, const one_sided& what, std::uint32_t swapped);

}  // namespace ham::offload::detail
