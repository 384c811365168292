// Parts of buffers, as programs in C name them.
#pragma once

#include <cstddef>

#include "ham/ham.h"
#include "ham/offload/memory.hpp"

namespace ham::inline v1::c_api {

/// `size` bytes of a buffer from `offset` on. Throws ham::buffer_error if they are outside of it.
[[nodiscard]] offload::buffer_ptr<std::byte> part(const ham_buffer* buffer, std::size_t offset, std::size_t size);

}  // namespace ham::c_api
