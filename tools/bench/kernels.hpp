// ham-bench kernels: started as a job of MPI, which this program is not.
#pragma once

namespace ham::inline v1::bench {

/// Replaces this process by the launcher of MPI with ham-bench-kernels-<mpi>, which lies beside it. `argv[1]` is
/// "kernels"; --parents and --mpi are taken here, the rest is handed on. Returns only if that fails, the exit status.
int run_kernels(int argc, char** argv);

}  // namespace ham::bench
