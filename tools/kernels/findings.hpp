// What ham-bench kernels has found, printed as a table or as JSON.
#pragma once

#include <vector>

#include "../bench/report.hpp"

namespace ham::inline v1::kernels {

/// Microseconds for so many kernels, beside their floors.
struct row {
  int kernels = 0;
  bench::comparison call;           ///< until the calls have returned
  bench::comparison call_run;       ///< until the kernels have run
  bench::comparison call_multiple;  ///< the same of all kernels in one message
  bench::comparison call_multiple_run;
};

struct findings {
  int parents = 0;
  int children = 0;
  int repetitions = 0;
  std::vector<double> spawns_us;
  std::vector<double> bare_spawns_us;  ///< of as many children that do nothing; may be empty
  std::vector<row> rows;

  /// That one message for the most kernels is cheaper than a call for each.
  [[nodiscard]] bench::bar bar() const;
};

void print_table(const findings& what);
void print_json(const findings& what);

}  // namespace ham::kernels
