// The Jacobi iteration of the Himeno benchmark: against a plain loop, and in parts.
#include "himeno/grid.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

namespace {

constexpr himeno::extents small{12, 9, 23};

/// One iteration as the benchmark's source has it, with the coefficients that it sets. Gives gosa.
double plain_iteration(std::vector<double>& p) {
  const auto at = [](std::size_t i, std::size_t j, std::size_t k) { return i * small.plane() + j * small.row() + k; };
  std::vector<double> next = p;
  double gosa = 0.0;
  for (std::size_t i = 1; i + 1 < small.i; ++i) {
    for (std::size_t j = 1; j + 1 < small.j; ++j) {
      for (std::size_t k = 1; k + 1 < small.k; ++k) {
        const double s0 = p[at(i + 1, j, k)] + p[at(i, j + 1, k)] + p[at(i, j, k + 1)] + p[at(i - 1, j, k)] +
                          p[at(i, j - 1, k)] + p[at(i, j, k - 1)];
        const double ss = s0 / 6.0 - p[at(i, j, k)];
        gosa += ss * ss;
        next[at(i, j, k)] = p[at(i, j, k)] + 0.8 * ss;
      }
    }
  }
  p = next;
  return gosa;
}

TEST(himeno_grid, the_iteration_is_that_of_the_benchmark) {
  himeno::slab full(small, 1, small.i - 1);
  std::vector<double> plain(full.p().begin(), full.p().end());
  std::vector<double> planes(small.i - 2);
  for (int iteration = 0; iteration < 5; ++iteration) {
    full.sweep(1, small.i - 1, planes.data());
    full.swap();
    const double gosa = plain_iteration(plain);
    EXPECT_NEAR(himeno::residual_of(planes), gosa, 1e-4 * gosa);
  }
  for (std::size_t i = 1; i + 1 < small.i; ++i) {
    for (std::size_t j = 0; j < small.j; ++j) {
      for (std::size_t k = 0; k < small.k; ++k) {
        const std::size_t point = i * small.plane() + j * small.row() + k;
        EXPECT_NEAR(full.p()[point], plain[point], 1e-5);
      }
    }
  }
}

TEST(himeno_grid, off_diagonal_coefficients_take_part) {
  himeno::slab full(small, 1, small.i - 1);
  for (std::size_t point = 0; point < full.p().size(); ++point) {
    full.p()[point] = static_cast<float>(point * 37 % 101);
  }
  std::vector<float> coefficients(full.p().size(), 0.25F);
  const std::size_t at = 5 * small.plane() + 4 * small.row() + 7;
  const auto row = static_cast<std::ptrdiff_t>(small.row());
  const auto plane = static_cast<std::ptrdiff_t>(small.plane());
  const float* p = full.p().data() + at;
  const float expected[] = {p[plane + row] - p[plane - row] - p[row - plane] + p[-plane - row],
                            p[row + 1] - p[1 - row] - p[row - 1] + p[-row - 1],
                            p[plane + 1] - p[1 - plane] - p[plane - 1] + p[-plane - 1]};
  std::vector<double> planes(small.i - 2);
  full.sweep(1, small.i - 1, planes.data());
  const float without = full.view().next[at];
  for (std::size_t b = 0; b < 3; ++b) {
    himeno::arrays on = full.view();
    on.coefficients[4 + b] = coefficients.data();
    himeno::sweep(small, on, 1, small.i - 1, planes.data());
    EXPECT_NEAR(on.next[at] - without, 0.8F * 0.25F * expected[b] / 6.0F, 1e-3) << b;
  }
}

TEST(himeno_grid, parts_give_the_same_bits_as_the_whole) {
  for (const std::size_t parts : {1u, 2u, 3u, 7u, 10u}) {
    himeno::slab full(small, 1, small.i - 1);
    std::vector<double> right(small.i - 2);
    std::vector<double> found(small.i - 2);
    std::vector<std::unique_ptr<himeno::slab>> slabs;
    for (std::size_t i = 0; i < parts; ++i) {
      const auto [first, last] = himeno::part_of(small, i, parts);
      slabs.push_back(std::make_unique<himeno::slab>(small, first, last));
    }
    EXPECT_EQ(slabs.back()->last(), small.i - 1);
    for (int iteration = 0; iteration < 6; ++iteration) {
      full.sweep(1, small.i - 1, right.data());
      for (auto& one : slabs) one->sweep(one->first(), one->last(), found.data() + one->first() - 1);
      for (std::size_t i = 1; i < parts; ++i) {
        himeno::slab& below = *slabs[i - 1];
        himeno::slab& above = *slabs[i];
        std::ranges::copy(below.next_plane(below.last() - 1), above.next_plane(above.first() - 1).begin());
        std::ranges::copy(above.next_plane(above.first()), below.next_plane(below.last()).begin());
      }
      full.swap();
      for (auto& one : slabs) one->swap();
      EXPECT_EQ(found, right);
    }
    std::vector<std::uint64_t> hashes;
    for (const auto& one : slabs) {
      const auto part = one->plane_hashes();
      hashes.insert(hashes.end(), part.begin(), part.end());
    }
    EXPECT_EQ(hashes, full.plane_hashes()) << parts;
  }
}

TEST(himeno_grid, a_bit_that_differs_changes_a_hash) {
  himeno::slab one(small, 1, small.i - 1);
  const auto before = one.plane_hashes();
  float& point = one.p()[3 * small.plane() + 2 * small.row() + 5];
  point = std::nextafter(point, 2.0F);
  const auto after = one.plane_hashes();
  EXPECT_NE(after[2], before[2]);
  EXPECT_EQ(after[3], before[3]);
}

TEST(himeno_grid, sizes_are_those_of_the_benchmark) {
  EXPECT_EQ(himeno::extents_of("XS").k, 64u);
  EXPECT_EQ(himeno::extents_of("M").inner_points(), 126u * 126u * 254u);
  EXPECT_EQ(himeno::extents_of("XXS").i, 0u);
}

}  // namespace
