// Turns of the contestants of the conjugate gradient example.
#include "comparison.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "local_system.hpp"
#include "solver.hpp"

namespace {

TEST(comparison, who_takes_part_has_a_time_and_who_does_not_has_none) {
  const auto matrix = cg::poisson_matrix(10);
  const auto inverse_diagonal = cg::inverse_of_preconditioner(matrix, cg::preconditioner::jacobi);
  const std::vector<double> b(inverse_diagonal.size(), 1.0);
  cg::local_system first(matrix, inverse_diagonal, b);
  cg::local_system second(matrix, inverse_diagonal, b);
  cg::contestants who;
  who.targets = &first;
  who.one_thread = &second;
  std::vector<int> rounds;
  const cg::comparison best = cg::compare_in_turns(who, 5, 1e-6, [&](int round) { rounds.push_back(round); });
  EXPECT_GE(best.rounds, 5);
  EXPECT_EQ(best.rounds, static_cast<int>(rounds.size()));
  EXPECT_EQ(rounds.back(), best.rounds - 1);
  EXPECT_GT(best.targets, 0.0);
  EXPECT_GT(best.one_thread, 0.0);
  EXPECT_EQ(best.one_target, 0.0);
  EXPECT_EQ(best.threads, 0.0);
}

}  // namespace
