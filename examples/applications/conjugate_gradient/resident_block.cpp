// Puts one row block into the memory of its target.
#include "resident_block.hpp"

#include <algorithm>

namespace cg {
namespace {

namespace offload = ham::offload;

struct column_range {
  std::size_t begin;
  std::size_t size;
};

std::span<const std::int32_t> columns_of(const csr_matrix& matrix, row_range rows) {
  const std::uint64_t begin = matrix.row_start[static_cast<std::size_t>(rows.first)];
  const std::uint64_t end = matrix.row_start[static_cast<std::size_t>(rows.last)];
  return std::span(matrix.column).subspan(begin, end - begin);
}

/// Columns that the rows read, and the rows' own places, which the dot product with the direction reads.
/// In a banded matrix that is little more than the rows themselves: only this much of p is sent to the target.
column_range window_of(const csr_matrix& matrix, row_range rows) {
  std::int32_t begin = rows.first;
  std::int32_t end = rows.last;
  for (const std::int32_t column : columns_of(matrix, rows)) {
    begin = std::min(begin, column);
    end = std::max(end, column + 1);
  }
  return {static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)};
}

}  // namespace

distributed_system::resident_block::resident_block(ham::node_t node, const csr_matrix& matrix, row_range rows,
                                                   std::span<const double> inverse_diagonal)
    : rows_(rows) {
  const std::size_t n = rows.size();
  const std::span<const std::int32_t> matrix_columns = columns_of(matrix, rows);
  const column_range window = window_of(matrix, rows);
  window_begin_ = window.begin;

  const auto first = static_cast<std::size_t>(rows.first);
  std::vector<std::uint64_t> row_start(n + 1);
  for (std::size_t i = 0; i <= n; ++i) row_start[i] = matrix.row_start[first + i] - matrix.row_start[first];
  std::vector<std::int32_t> column(matrix_columns.size());
  std::transform(matrix_columns.begin(), matrix_columns.end(), column.begin(),
                 [&](std::int32_t c) { return c - static_cast<std::int32_t>(window.begin); });

  row_start_ = offload::buffer<std::uint64_t>{node, row_start.size()};
  column_ = offload::buffer<std::int32_t>{node, column.size()};
  value_ = offload::buffer<double>{node, column.size()};
  inverse_diagonal_ = offload::buffer<double>{node, n};
  window_ = offload::buffer<double>{node, window.size};
  product_ = offload::buffer<double>{node, n};
  solution_ = offload::buffer<double>{node, n};
  residual_ = offload::buffer<double>{node, n};
  preconditioned_ = offload::buffer<double>{node, n};
  descriptor_ = offload::buffer<row_block>{node, 1};

  row_block block;
  block.rows = n;
  block.own_begin = first - window.begin;
  block.row_start = row_start_.ptr();
  block.column = column_.ptr();
  block.value = value_.ptr();
  block.inverse_diagonal = inverse_diagonal_.ptr();
  block.window = window_.ptr();
  block.product = product_.ptr();
  block.solution = solution_.ptr();
  block.residual = residual_.ptr();
  block.preconditioned = preconditioned_.ptr();

  std::vector<offload::future<void>> puts;
  puts.push_back(offload::put(row_start.data(), row_start_.ptr(), row_start.size()));
  puts.push_back(offload::put(column.data(), column_.ptr(), column.size()));
  puts.push_back(offload::put(matrix.value.data() + matrix.row_start[first], value_.ptr(), column.size()));
  puts.push_back(offload::put(inverse_diagonal.data() + first, inverse_diagonal_.ptr(), n));
  for (auto& put : puts) put.get();
  offload::sync(node, ham::fn<&on_target::install>, descriptor_.ptr(), block);
}

}  // namespace cg
