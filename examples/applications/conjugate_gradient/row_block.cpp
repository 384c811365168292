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

/// Appends an element to the row that is being built.
void append(csr_matrix& matrix, std::int32_t column, double value) {
  matrix.column.push_back(column);
  matrix.value.push_back(value);
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
  block.lower.columns = static_cast<std::int32_t>(rows.size());
  block.outer.columns = static_cast<std::int32_t>(halo.size());
  block.diagonal.resize(rows.size());
  for (std::int32_t row = rows.first; row < rows.last; ++row) {
    for (std::uint64_t k = matrix.row_start[row]; k < matrix.row_start[row + 1]; ++k) {
      const std::int32_t column = matrix.column[k];
      if (!is_inside(rows, column)) {
        const auto place = std::lower_bound(halo.begin(), halo.end(), column) - halo.begin();
        append(block.outer, static_cast<std::int32_t>(place), matrix.value[k]);
      } else if (column < row) {
        append(block.lower, column - rows.first, matrix.value[k]);
      } else if (column == row) {
        block.diagonal[row - rows.first] = matrix.value[k];
      }
    }
    if (block.outer.nonzeros() > block.outer.row_start.back()) append(block.boundary, row - rows.first);
    block.lower.row_start.push_back(block.lower.nonzeros());
    block.outer.row_start.push_back(block.outer.nonzeros());
  }
  return block;
}

}  // namespace cg
