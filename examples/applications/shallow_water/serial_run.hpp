// The whole domain in this process: what runs on targets are compared with.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "shallow_water/flow.hpp"

namespace shallow_water {

class serial_run {
 public:
  explicit serial_run(const domain& of) : rows_(of.rows), all_(of, 0, of.rows) { all_.load(initial_state(of)); }

  /// Gives the seconds.
  double advance(std::uint64_t steps) {
    const auto start = std::chrono::steady_clock::now();
    for (std::uint64_t step = 0; step < steps; ++step) {
      all_.reflect();
      all_.advance(0, rows_);
      all_.swap();
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  [[nodiscard]] std::vector<double> state() const { return {all_.own_rows().begin(), all_.own_rows().end()}; }

 private:
  std::size_t rows_;
  block all_;
};

}  // namespace shallow_water
