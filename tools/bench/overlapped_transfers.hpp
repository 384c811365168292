// put and get of 64 MiB while the host computes for as long: of ham-bench transfers and ham-bench-mpi-* transfers.
#pragma once

#include "report.hpp"

namespace ham::inline v1::bench {

/// Between the calling host and node 1 of its job, 64 MiB in each direction; by the caller, waited for at once,
/// computing alone, and both at once, in turns.
[[nodiscard]] report measure_overlapped_transfers(int repetitions);

}  // namespace ham::bench
