// Memory of a helper that the kernel does not reach: the bytes travel in messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "context.hpp"
#include "near_memory.hpp"

namespace ham::inline v1::veo {

/// Sends a request and waits for what it has found.
using asking = std::function<local_result(const sender&, std::unique_ptr<std::vector<delivery>>)>;

/// False if the memory is none, or the helper has gone.
[[nodiscard]] bool copy_far(const asking& ask, direction where, std::uint64_t remote, void* local, std::size_t bytes);

}  // namespace ham::veo
