// Bytes from and to descriptors, all of them, whatever interrupts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace ham::inline v1::base {

/// Reads from `offset` on until `into` is full, the file ends, or it fails, which errno tells. Gives how many bytes it
/// has read.
[[nodiscard]] std::size_t read_bytes(int fd, std::span<std::byte> into, std::uint64_t offset) noexcept;

/// Writes `bytes`, and waits for room also where the descriptor does not block. Gives 0, or errno; a part may have been
/// written then.
int write_bytes(int fd, std::string_view bytes) noexcept;

}  // namespace ham::base
