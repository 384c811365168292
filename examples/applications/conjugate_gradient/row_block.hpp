// The rows of one target: what they are, what they read of other targets' rows, and what the others read of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "csr_matrix.hpp"

namespace cg {

/// Rows of a symmetric matrix in numbers of their own, in two parts. The product with the first one needs nothing of
/// other blocks; of it, half is kept. The columns of the second one are the **halo**, the elements of other blocks that
/// these rows read.
struct row_block {
  row_range rows;                   ///< in the whole matrix
  csr_matrix lower;                 ///< columns of these rows, below the diagonal
  std::vector<double> diagonal;     ///< zero where nothing is stored
  csr_matrix outer;                 ///< all other columns, renumbered as in the halo
  std::vector<row_range> boundary;  ///< the rows that read the halo

  [[nodiscard]] std::size_t halo_size() const { return static_cast<std::size_t>(outer.columns); }
};

/// What a block sends to another one in each iteration.
struct halo_message {
  std::size_t to = 0;              ///< the other block
  std::vector<std::int32_t> rows;  ///< own rows, ascending
  std::size_t offset = 0;          ///< where they go in the other one's halo

  [[nodiscard]] friend bool operator==(const halo_message&, const halo_message&) = default;
};

/// For each block the columns outside of it that its rows read, ascending: its halo. The blocks are consecutive.
std::vector<std::vector<std::int32_t>> find_halos(const csr_matrix& matrix, std::span<const row_range> blocks);

/// What block `from` sends, given all halos.
std::vector<halo_message> find_messages(std::span<const row_range> blocks,
                                        std::span<const std::vector<std::int32_t>> halos, std::size_t from);

/// Cuts the rows out of a symmetric matrix.
row_block make_block(const csr_matrix& matrix, row_range rows, std::span<const std::int32_t> halo);

}  // namespace cg
