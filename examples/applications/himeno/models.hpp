// The benchmark on one target in the execution models of paper 4 (Fig. 11). Every iteration prints a line.
#pragma once

#include <ham/offload.hpp>

#include <cstdint>

#include "common/breakdown.hpp"
#include "himeno/grid.hpp"

namespace himeno {

struct model_run {
  app::breakdown time;
  double residual = 0.0;
  HAM_FIELDS(time, residual)
};

/// Runs `iterations` of them; the lines are in app::host_output afterwards. Blocking; throws as ham::offload.
[[nodiscard]] model_run run_model(app::model which, ham::node_t target, const extents& grid, std::uint64_t iterations);

}  // namespace himeno
