// Cutting a matrix into blocks of rows with halos.
#include "row_block.hpp"

#include <algorithm>

namespace cg {
namespace {

std::span<const std::int32_t> columns_of(const csr_matrix& matrix, std::int32_t first, std::int32_t last) {
  const std::uint64_t begin = matrix.row_start[static_cast<std::size_t>(first)];
  const std::uint64_t end = matrix.row_start[static_cast<std::size_t>(last)];
  return std::span(matrix.column).subspan(begin, end - begin);
}

bool is_inside(row_range rows, std::int32_t column) { return column >= rows.first && column < rows.last; }

/// Appends `row` to the last range if it follows it.
void append(std::vector<row_range>& ranges, std::int32_t row) {
  if (!ranges.empty() && ranges.back().last == row) {
    ++ranges.back().last;
  } else {
    ranges.push_back({row, row + 1});
  }
}

}  // namespace

std::vector<std::vector<std::int32_t>> find_halos(const csr_matrix& matrix, std::span<const row_range> blocks) {
  std::vector<std::vector<std::int32_t>> halos;
  halos.reserve(blocks.size());
  for (const row_range rows : blocks) {
    std::vector<std::int32_t>& halo = halos.emplace_back();
    for (const std::int32_t column : columns_of(matrix, rows.first, rows.last)) {
      if (!is_inside(rows, column)) halo.push_back(column);
    }
    std::sort(halo.begin(), halo.end());
    halo.erase(std::unique(halo.begin(), halo.end()), halo.end());
  }
  return halos;
}

std::vector<halo_message> find_messages(std::span<const row_range> blocks,
                                        std::span<const std::vector<std::int32_t>> halos, std::size_t from) {
  std::vector<halo_message> messages;
  const row_range own = blocks[from];
  for (std::size_t to = 0; to < blocks.size(); ++to) {
    const std::vector<std::int32_t>& halo = halos[to];
    const auto begin = std::lower_bound(halo.begin(), halo.end(), own.first);
    const auto end = std::lower_bound(begin, halo.end(), own.last);
    if (to == from || begin == end) continue;
    halo_message message{to, {}, static_cast<std::size_t>(begin - halo.begin())};
    std::transform(begin, end, std::back_inserter(message.rows), [&](std::int32_t row) { return row - own.first; });
    messages.push_back(std::move(message));
  }
  return messages;
}

row_block make_block(const csr_matrix& matrix, row_range rows, std::span<const std::int32_t> halo) {
  row_block block;
  block.rows = rows;
  const auto own = static_cast<std::int32_t>(rows.size());
  const auto columns = columns_of(matrix, rows.first, rows.last);
  const std::uint64_t begin = matrix.row_start[static_cast<std::size_t>(rows.first)];
  const std::span values = std::span(matrix.value).subspan(begin, columns.size());
  block.matrix.columns = own + static_cast<std::int32_t>(halo.size());
  block.matrix.value.assign(values.begin(), values.end());
  block.matrix.column.reserve(columns.size());
  block.matrix.row_start.reserve(rows.size() + 1);
  for (std::int32_t row = 0; row < own; ++row) {
    bool reads_halo = false;
    for (const std::int32_t column : columns_of(matrix, rows.first + row, rows.first + row + 1)) {
      const bool inside = is_inside(rows, column);
      const auto place =
          inside ? column - rows.first
                 : own + static_cast<std::int32_t>(std::lower_bound(halo.begin(), halo.end(), column) - halo.begin());
      block.matrix.column.push_back(place);
      reads_halo = reads_halo || !inside;
    }
    block.matrix.row_start.push_back(block.matrix.column.size());
    append(reads_halo ? block.boundary : block.interior, row);
  }
  return block;
}

}  // namespace cg
