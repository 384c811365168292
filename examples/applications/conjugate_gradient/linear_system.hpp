// A linear system A x = b that conjugate gradients are iterated on, wherever its vectors are.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace cg {

/// What some iterations have done.
struct iteration_report {
  std::vector<double> residuals;  ///< |r|^2 after each of them
  bool broken = false;            ///< the last one found a direction in which A is not positive: p.q = `curvature`
  double curvature = 0.0;
  double waiting = 0.0;  ///< seconds for which the computing process waited for messages of others

  /// How it crosses from a target to the host.
  template <class Archive>
  void serialize(Archive& archive) {
    archive(residuals, broken, curvature, waiting);
  }
};

/// Where the method begins.
enum class start_at : std::uint8_t { solution, zero };

/// The solver steers it by scalars: none of its functions but the last one moves a vector.
class linear_system {
 public:
  linear_system() = default;
  linear_system(const linear_system&) = delete;
  linear_system& operator=(const linear_system&) = delete;
  virtual ~linear_system() = default;

  /// r = b - A x, and the method begins anew from there, with x as it is (zero at first) or set to zero. Gives |r|^2.
  virtual double restart(start_at x) = 0;
  /// At most `most` iterations; ends after the first one with |r|^2 <= `goal`, or where it breaks.
  virtual iteration_report iterate(std::int64_t most, double goal) = 0;
  /// Copies x to `to`, which is as long as the matrix has rows.
  virtual void copy_solution(std::span<double> to) = 0;
};

}  // namespace cg
