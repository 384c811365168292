// Blocks of rows with halos: together they multiply as the whole matrix does.
#include "row_block.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "kernels.hpp"

namespace {

/// A block with its vectors.
struct part {
  part(const cg::csr_matrix& matrix, cg::row_range rows, const std::vector<std::int32_t>& columns,
       std::span<const double> p_of_all)
      : block(cg::make_block(matrix, rows, columns)),
        r(p_of_all.begin() + rows.first, p_of_all.begin() + rows.last),
        ones(rows.size(), 1.0),
        p(rows.size(), 0.0),
        q(rows.size(), unset),
        halo(columns.size(), unset) {
    EXPECT_EQ(block.halo_size(), columns.size());
    view.rows = rows.size();
    view.lower = {block.lower.row_start.data(), block.lower.column.data(), block.lower.value.data()};
    view.outer = {block.outer.row_start.data(), block.outer.column.data(), block.outer.value.data()};
    view.diagonal = block.diagonal.data();
    view.inverse_diagonal = ones.data();
    view.r = r.data();
    view.p = p.data();
    view.q = q.data();
    view.halo = halo.data();
  }

  static constexpr double unset = std::numeric_limits<double>::quiet_NaN();
  cg::row_block block;
  std::vector<double> r, ones, p, q, halo;
  cg::block_view view;
};

/// q = A p by blocks, whose halos are filled by the messages alone.
std::vector<double> multiply_by_blocks(const cg::csr_matrix& matrix, const std::vector<double>& p, std::size_t parts) {
  const auto ranges = cg::partition_by_nonzeros(matrix, parts);
  const auto halos = cg::find_halos(matrix, ranges);
  std::vector<std::unique_ptr<part>> all;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    all.push_back(std::make_unique<part>(matrix, ranges[i], halos[i], p));
  }
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    for (const auto& message : cg::find_messages(ranges, halos, i)) {
      EXPECT_NE(message.to, i);
      cg::copy_border(all[i]->view, 1.0, message.rows, all[message.to]->halo.data() + message.offset);
    }
  }
  std::vector<double> q;
  double dot = 0.0;
  for (const auto& one : all) {
    dot += cg::multiply(one->view, 1.0);
    dot += cg::multiply_halo(one->view, one->block.boundary);
    q.insert(q.end(), one->q.begin(), one->q.end());
  }
  const double expected = std::inner_product(p.begin(), p.end(), q.begin(), 0.0);
  EXPECT_NEAR(dot, expected, 1e-12 * std::abs(expected));
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
  const auto by_blocks = multiply_by_blocks(matrix, p, parts);
  ASSERT_EQ(by_blocks.size(), q.size());
  for (std::size_t i = 0; i < q.size(); ++i) EXPECT_NEAR(by_blocks[i], q[i], 1e-11) << parts << " parts, row " << i;
}

TEST(row_block, blocks_of_a_grid_multiply_as_the_whole) {
  for (std::size_t parts = 1; parts <= 9; ++parts) expect_same_product(cg::poisson_matrix(12), parts);
}

TEST(row_block, one_row_each) { expect_same_product(cg::poisson_matrix(3), 9); }

TEST(row_block, rows_that_read_all_others) {
  std::vector<cg::entry> entries;
  for (std::int32_t i = 0; i < 40; ++i) {
    entries.push_back({i, i, 50.0});
    for (std::int32_t j = 0; j < i; j += 7) {
      entries.push_back({i, j, 1.0 + j});
      entries.push_back({j, i, 1.0 + j});
    }
  }
  expect_same_product(cg::make_csr(40, 40, entries), 6);
}

TEST(row_block, a_grid_cut_in_two_has_one_line_of_halo_and_one_of_boundary) {
  const auto matrix = cg::poisson_matrix(10);
  const auto ranges = cg::partition_by_nonzeros(matrix, 2);
  const auto halos = cg::find_halos(matrix, ranges);
  const auto block = cg::make_block(matrix, ranges[0], halos[0]);
  EXPECT_EQ(block.halo_size(), 10U);
  ASSERT_EQ(block.boundary.size(), 1U);
  EXPECT_EQ(block.boundary[0].first, 40);
  EXPECT_EQ(block.boundary[0].size(), 10U);
  EXPECT_EQ(block.lower.nonzeros(), 85U);  // 40 with the row above, 45 with the column to the left
  EXPECT_EQ(block.outer.nonzeros(), 10U);
  const auto messages = cg::find_messages(ranges, halos, 0);
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_EQ(messages[0].to, 1U);
  EXPECT_EQ(messages[0].rows.front(), 40);
  EXPECT_EQ(messages[0].offset, 0U);
}

}  // namespace
