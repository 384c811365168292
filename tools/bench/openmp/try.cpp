// Whether target regions run on a device: what CMake runs before it builds the library for ham-bench.
#include "target_regions.hpp"

int main() { return ham_bench_openmp_runs_on_device() == 1 ? 0 : 1; }
