// Where the bytes of a block lie on the two sides of a transfer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace ham::inline v1::offload::detail {

/// Bytes in rows, at a pitch of its own on either side; counted as if they were packed. One row of any length stands
/// for bytes that follow each other. Whoever makes one has checked that it does not reach beyond 2^64 bytes.
struct row_layout {
  std::size_t row_bytes = 0;  ///< 0: all are one row
  std::size_t local_pitch = 0;
  std::size_t remote_pitch = 0;

  /// Calls move(local, remote, count), with offsets on either side, for each run of bytes among `count` packed ones
  /// from `from` on. Stops when it returns false.
  template <class Move>
  void for_each_run(std::size_t from, std::size_t count, Move move) const {
    if (row_bytes == 0) {
      move(from, from, count);
      return;
    }
    for (const std::size_t end = from + count; from < end;) {
      const std::size_t row = from / row_bytes;
      const std::size_t at = from % row_bytes;
      const std::size_t run = std::min(end - from, row_bytes - at);
      if (!move(row * local_pitch + at, row * remote_pitch + at, run)) return;
      from += run;
    }
  }
  /// Bytes of the peer's memory from the first of the block's `bytes` packed ones to its last.
  [[nodiscard]] std::size_t remote_extent(std::size_t bytes) const noexcept { return extent(bytes, remote_pitch); }
  [[nodiscard]] std::size_t local_extent(std::size_t bytes) const noexcept { return extent(bytes, local_pitch); }

 private:
  [[nodiscard]] std::size_t extent(std::size_t bytes, std::size_t pitch) const noexcept {
    return row_bytes == 0 || bytes == 0 ? bytes : (bytes / row_bytes - 1) * pitch + row_bytes;
  }
};

}  // namespace ham::offload::detail
