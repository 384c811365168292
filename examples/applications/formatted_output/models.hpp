// The program with heavy formatted output in the execution models of paper 4 (Fig. 11).
#pragma once

#include <ham/offload.hpp>

#include <cstdint>

#include "common/breakdown.hpp"

namespace formatted_output {

struct amount {
  std::uint64_t steps = 5;
  std::uint64_t lines = 20'000;   ///< of each step
  std::uint64_t buffer = 65'536;  ///< bytes of text that are written at once
  HAM_FIELDS(steps, lines, buffer)
};

/// Runs it; the text is in app::host_output afterwards. Blocking; throws as ham::offload.
[[nodiscard]] app::breakdown run_model(app::model which, ham::node_t target, const amount& of);

}  // namespace formatted_output
