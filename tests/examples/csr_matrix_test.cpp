// Sparse matrix of the conjugate gradient example: Poisson matrix, symmetry check, row blocks.
#include "csr_matrix.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace {

TEST(csr_matrix, poisson_rows_sum_to_the_missing_neighbours) {
  const auto matrix = cg::poisson_matrix(4);
  EXPECT_EQ(matrix.rows(), 16);
  EXPECT_EQ(matrix.nonzeros(), 64U);
  EXPECT_FALSE(cg::find_asymmetry(matrix));
  const std::vector<double> ones(16, 1.0);
  std::vector<double> sums(16);
  cg::multiply(matrix, ones, sums);
  EXPECT_EQ(sums, (std::vector<double>{2, 1, 1, 2, 1, 0, 0, 1, 1, 0, 0, 1, 2, 1, 1, 2}));
  EXPECT_EQ(cg::diagonal(matrix), std::vector<double>(16, 4.0));
}

TEST(csr_matrix, finds_an_entry_without_mirror_image) {
  const std::vector<cg::entry> entries{{0, 0, 1.0}, {1, 1, 1.0}, {1, 0, 2.0}};
  const auto found = cg::find_asymmetry(cg::make_csr(2, 2, entries));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->row, 1);
  EXPECT_EQ(found->column, 0);
}

TEST(csr_matrix, diagonal_is_zero_where_nothing_is_stored) {
  const std::vector<cg::entry> entries{{0, 1, 1.0}, {1, 0, 1.0}, {1, 1, 3.0}};
  EXPECT_EQ(cg::diagonal(cg::make_csr(2, 2, entries)), (std::vector<double>{0.0, 3.0}));
}

void expect_partition(const cg::csr_matrix& matrix, std::size_t parts, std::uint64_t max_nonzeros) {
  const auto ranges = cg::partition_by_nonzeros(matrix, parts);
  ASSERT_FALSE(ranges.empty());
  EXPECT_LE(ranges.size(), parts);
  std::int32_t next = 0;
  for (const auto& range : ranges) {
    EXPECT_EQ(range.first, next);
    EXPECT_LT(range.first, range.last);
    const auto begin = matrix.row_start[static_cast<std::size_t>(range.first)];
    EXPECT_LE(matrix.row_start[static_cast<std::size_t>(range.last)] - begin, max_nonzeros);
    next = range.last;
  }
  EXPECT_EQ(next, matrix.rows());
}

TEST(csr_matrix, blocks_cover_all_rows_with_equal_numbers_of_nonzeros) {
  const auto matrix = cg::poisson_matrix(20);
  for (std::size_t parts = 1; parts <= 50; ++parts) expect_partition(matrix, parts, matrix.nonzeros() / parts + 5);
}

TEST(csr_matrix, more_parts_than_rows_give_one_row_each) {
  expect_partition(cg::poisson_matrix(2), 9, 3);
  EXPECT_EQ(cg::partition_by_nonzeros(cg::poisson_matrix(2), 9).size(), 4U);
}

TEST(csr_matrix, one_heavy_row_stays_whole) {
  std::vector<cg::entry> entries;
  for (std::int32_t i = 0; i < 100; ++i) entries.push_back({0, i, 1.0});
  for (std::int32_t i = 1; i < 100; ++i) entries.push_back({i, i, 1.0});
  expect_partition(cg::make_csr(100, 100, entries), 4, 100);
}

}  // namespace
