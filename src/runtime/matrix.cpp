// Shapes of matrices in memory: which make sense, which parts lie inside, and which match.
#include "ham/offload/matrix.hpp"

#include <cstdint>
#include <string>

#include "ham/error.hpp"

namespace ham::inline v1::offload::detail {
namespace {

std::string size_text(const matrix_shape& shape) {
  return std::to_string(shape.rows) + " x " + std::to_string(shape.columns);
}

}  // namespace

matrix_shape checked_shape(std::size_t rows, std::size_t columns, std::size_t pitch) {
  if (pitch == 0) pitch = columns;
  if (pitch < columns && rows > 1) {
    throw buffer_error("rows of " + std::to_string(columns) + " elements overlap at a pitch of " +
                       std::to_string(pitch) + "; a pitch is not less than a row");
  }
  std::size_t extent = 0;
  if (rows > 1 &&
      (__builtin_mul_overflow(rows - 1, pitch, &extent) || __builtin_add_overflow(extent, columns, &extent)))
    throw_too_large(rows, pitch);
  return {rows, columns, pitch};
}

void check_part(const matrix_shape& matrix, std::size_t row, std::size_t column, std::size_t rows,
                std::size_t columns) {
  const bool inside =
      row <= matrix.rows && rows <= matrix.rows - row && column <= matrix.columns && columns <= matrix.columns - column;
  if (inside) return;
  throw buffer_error("a part of " + size_text({rows, columns, 0}) + " elements at row " + std::to_string(row) +
                     ", column " + std::to_string(column) + " is outside of a matrix of " + size_text(matrix));
}

void check_fits(const matrix_shape& shape, std::size_t size) {
  if (shape.extent() <= size) return;
  throw buffer_error("a matrix of " + size_text(shape) + " elements at a pitch of " + std::to_string(shape.pitch) +
                     " takes " + std::to_string(shape.extent()) + ", and its memory has " + std::to_string(size));
}

block block_between(const char* verb, const matrix_shape& source, const matrix_shape& target) {
  if (source.rows != target.rows || source.columns != target.columns) {
    throw buffer_error(std::string(verb) + " of a matrix of " + size_text(source) + " elements into one of " +
                       size_text(target) + "; take parts of the same size");
  }
  return {source.rows, source.columns, source.pitch, target.pitch};
}

void throw_strided_row(std::size_t stride) {
  throw buffer_error("the elements of a row lie " + std::to_string(stride) +
                     " apart; only rows whose elements lie side by side are transferred (std::layout_right, or "
                     "std::layout_stride with a stride of 1 in the last dimension)");
}

}  // namespace ham::offload::detail
