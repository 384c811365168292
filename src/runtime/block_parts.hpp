// A block of rows in parts that one message, or one copy of a device, moves.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "ham/offload/block.hpp"
#include "runtime/device_rows.hpp"

namespace ham::inline v1::offload::detail {

[[nodiscard]] constexpr block_rows one_row(std::size_t bytes) noexcept { return {1, bytes, bytes, bytes}; }

/// Whole rows, or a part of one.
struct copied_part {
  std::size_t row;     ///< the first
  std::size_t in_row;  ///< bytes of it that belong to other parts
  std::size_t rows = 1;
  std::size_t row_bytes = 0;

  [[nodiscard]] constexpr std::size_t bytes() const noexcept { return rows * row_bytes; }
  [[nodiscard]] constexpr std::uint64_t place(std::uint64_t address, std::size_t pitch) const noexcept {
    return address + row * pitch + in_row;
  }
  /// Packed on one side.
  [[nodiscard]] constexpr block_rows from_packed(std::size_t pitch) const noexcept {
    return rows == 1 || pitch == row_bytes ? one_row(bytes()) : block_rows{rows, row_bytes, row_bytes, pitch};
  }
  [[nodiscard]] constexpr block_rows to_packed(std::size_t pitch) const noexcept {
    return rows == 1 || pitch == row_bytes ? one_row(bytes()) : block_rows{rows, row_bytes, pitch, row_bytes};
  }
  [[nodiscard]] constexpr ham::detail::device_rows on_device(std::uint64_t address, std::size_t pitch) const noexcept {
    return rows == 1 ? ham::detail::device_rows{place(address, pitch)}
                     : ham::detail::device_rows{place(address, pitch), row_bytes, pitch};
  }
};

/// Calls use(part) for all of a block, in parts of at most `max_bytes` bytes, one after the other.
template <class Use>
void for_each_part(const block_rows& what, std::size_t max_bytes, Use use) {
  if (what.row_bytes == 0) return;
  if (what.row_bytes <= max_bytes) {
    const std::size_t at_once = max_bytes / what.row_bytes;
    for (std::size_t row = 0; row < what.rows; row += at_once)
      use(copied_part{row, 0, std::min(at_once, what.rows - row), what.row_bytes});
    return;
  }
  for (std::size_t row = 0; row < what.rows; ++row) {
    for (std::size_t done = 0; done < what.row_bytes; done += max_bytes)
      use(copied_part{row, done, 1, std::min(max_bytes, what.row_bytes - done)});
  }
}

}  // namespace ham::offload::detail
