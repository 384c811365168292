// What a target does: the iteration on its planes, together with its neighbours.
#pragma once

#include <ham/offload.hpp>

#include <cstdint>
#include <vector>

#include "common/halo_port.hpp"
#include "himeno/grid.hpp"

namespace himeno {

class worker : public app::halo_port<float> {
 public:
  /// Inner planes [first, last), at least one, of a grid of i x j x k points.
  worker(std::uint64_t i, std::uint64_t j, std::uint64_t k, std::uint64_t first, std::uint64_t last);

  void initialise() { part_.initialise(); }
  /// The residuals of its planes in the last of `iterations` >= 1. Waits for messages of the neighbours, which iterate
  /// at the same time.
  std::vector<double> iterate(std::uint64_t iterations) { return iterating(iterations).get(); }
  [[nodiscard]] std::vector<std::uint64_t> plane_hashes() const { return part_.plane_hashes(); }

 private:
  ham::offload::task<std::vector<double>> iterating(std::uint64_t iterations);

  slab part_;
  std::uint64_t step_ = 0;
};

}  // namespace himeno
