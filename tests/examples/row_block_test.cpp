// Blocks of rows with halos: together they multiply as the whole matrix does.
#include "row_block.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kernels.hpp"

namespace {

/// q = A p by blocks, whose halos are filled by the messages alone.
std::vector<double> multiply_by_blocks(const cg::csr_matrix& matrix, const std::vector<double>& p, std::size_t parts) {
  constexpr double unset = std::numeric_limits<double>::quiet_NaN();
  const auto ranges = cg::partition_by_nonzeros(matrix, parts);
  const auto halos = cg::find_halos(matrix, ranges);
  std::vector<std::vector<double>> local;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    local.emplace_back(p.begin() + ranges[i].first, p.begin() + ranges[i].last);
    local.back().resize(ranges[i].size() + halos[i].size(), unset);
  }
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    for (const auto& message : cg::find_messages(ranges, halos, i)) {
      EXPECT_NE(message.to, i);
      double* const halo = local[message.to].data() + ranges[message.to].size() + message.offset;
      for (std::size_t k = 0; k < message.rows.size(); ++k) halo[k] = local[i][std::size_t(message.rows[k])];
    }
  }
  std::vector<double> q;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const cg::row_block block = cg::make_block(matrix, ranges[i], halos[i]);
    EXPECT_EQ(block.halo_size(), halos[i].size());
    std::vector<double> product(ranges[i].size(), unset);
    cg::block_view view;
    view.rows = product.size();
    view.row_start = block.matrix.row_start.data();
    view.column = block.matrix.column.data();
    view.value = block.matrix.value.data();
    view.p = local[i].data();
    view.q = product.data();
    cg::multiply(view, block.interior);
    cg::multiply(view, block.boundary);
    q.insert(q.end(), product.begin(), product.end());
  }
  return q;
}

std::vector<double> some_vector(std::int32_t size) {
  std::vector<double> v;
  for (std::int32_t i = 0; i < size; ++i) v.push_back(std::sin(1.0 + i));
  return v;
}

void expect_same_product(const cg::csr_matrix& matrix, std::size_t parts) {
  const auto p = some_vector(matrix.rows());
  std::vector<double> q(p.size());
  cg::multiply(matrix, p, q);
  EXPECT_EQ(multiply_by_blocks(matrix, p, parts), q) << parts << " parts";
}

TEST(row_block, blocks_of_a_grid_multiply_as_the_whole) {
  for (std::size_t parts = 1; parts <= 9; ++parts) expect_same_product(cg::poisson_matrix(12), parts);
}

TEST(row_block, one_row_each) { expect_same_product(cg::poisson_matrix(3), 9); }

TEST(row_block, rows_that_read_all_others) {
  std::vector<cg::entry> entries;
  for (std::int32_t i = 0; i < 40; ++i) {
    entries.push_back({i, i, 50.0});
    for (std::int32_t j = 0; j < 40; j += 7) entries.push_back({i, j, 1.0 + j});
  }
  expect_same_product(cg::make_csr(40, 40, entries), 6);
}

TEST(row_block, a_grid_cut_in_two_has_one_line_of_halo_and_one_of_boundary) {
  const auto matrix = cg::poisson_matrix(10);
  const auto ranges = cg::partition_by_nonzeros(matrix, 2);
  const auto halos = cg::find_halos(matrix, ranges);
  const auto block = cg::make_block(matrix, ranges[0], halos[0]);
  EXPECT_EQ(block.halo_size(), 10U);
  ASSERT_EQ(block.interior.size(), 1U);
  ASSERT_EQ(block.boundary.size(), 1U);
  EXPECT_EQ(block.interior[0].size(), 40U);
  EXPECT_EQ(block.boundary[0].size(), 10U);
  const auto messages = cg::find_messages(ranges, halos, 0);
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_EQ(messages[0].to, 1U);
  EXPECT_EQ(messages[0].rows.front(), 40);
  EXPECT_EQ(messages[0].offset, 0U);
}

}  // namespace
