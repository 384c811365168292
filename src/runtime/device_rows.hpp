// Where packed bytes lie in memory of a device.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "transport/device_memory.hpp"

namespace ham::inline v1::detail {

/// Bytes in rows, counted as if they were packed. Whoever makes one has checked that it lies in the device's memory.
struct device_rows {
  std::uint64_t address;
  std::size_t row_bytes = 0;  ///< 0: all are one row
  std::size_t pitch = 0;
  std::size_t from = 0;  ///< of the packed bytes

  /// The same from the packed byte `count` on.
  [[nodiscard]] constexpr device_rows behind(std::size_t count) const noexcept {
    return {address, row_bytes, pitch, from + count};
  }
  /// Calls use(copy) for copies between `count` packed bytes at `host` and the device: three at most, because a part
  /// may begin and end within a row.
  template <class Use>
  void for_each_copy(transport::device_copy::direction which, std::byte* host, std::size_t count, Use use) const {
    if (row_bytes == 0 || pitch == row_bytes) {
      use(transport::device_copy{which, address + from, host, count});
      return;
    }
    for (std::size_t at = from; count != 0;) {
      const std::uint64_t row = address + at / row_bytes * pitch;
      const std::size_t in_row = at % row_bytes;
      const bool whole = in_row == 0 && count >= row_bytes;
      const std::size_t rows = whole ? count / row_bytes : 1;
      const std::size_t run = whole ? row_bytes : std::min(count, row_bytes - in_row);
      use(transport::device_copy{which, row + in_row, host, run, rows, pitch});
      host += rows * run;
      at += rows * run;
      count -= rows * run;
    }
  }
};

}  // namespace ham::detail
