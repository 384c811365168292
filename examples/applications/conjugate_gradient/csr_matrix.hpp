// Sparse matrix in compressed row storage, and what the solver needs of it on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace cg {

/// One entry of a matrix, zero-based.
struct entry {
  std::int32_t row;
  std::int32_t column;
  double value;
};

/// Row `i` holds the elements row_start[i] .. row_start[i + 1] - 1 of `column` and `value`, columns ascending.
struct csr_matrix {
  std::int32_t columns = 0;
  std::vector<std::uint64_t> row_start{0};
  std::vector<std::int32_t> column;
  std::vector<double> value;

  [[nodiscard]] std::int32_t rows() const { return static_cast<std::int32_t>(row_start.size()) - 1; }
  [[nodiscard]] std::uint64_t nonzeros() const { return value.size(); }
};

/// Sorts entries into rows; entries for the same place are added up. Each must lie within rows x columns.
csr_matrix make_csr(std::int32_t rows, std::int32_t columns, std::span<const entry> entries);

/// The five-point Laplacian of a square grid with `side` x `side` inner points: symmetric, positive definite.
csr_matrix poisson_matrix(std::int32_t side);

/// y = A x
void multiply(const csr_matrix& matrix, std::span<const double> x, std::span<double> y);

/// The diagonal, zero where nothing is stored. Square matrices only.
std::vector<double> diagonal(const csr_matrix& matrix);

/// The first stored entry whose mirror image differs by more than rounding, if there is one. Square matrices only.
std::optional<entry> find_asymmetry(const csr_matrix& matrix);

/// Rows first .. last - 1.
struct row_range {
  std::int32_t first;
  std::int32_t last;

  /// To targets of another data layout as well.
  template <class Archive>
  void serialize(Archive& archive) {
    archive(first, last);
  }

  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(last - first); }
};

/// Cuts the rows into at most `parts` non-empty consecutive ranges with about the same number of nonzeros in each.
std::vector<row_range> partition_by_nonzeros(const csr_matrix& matrix, std::size_t parts);

}  // namespace cg
