// OpenMP target regions as a compiler with LLVM's host plug-in makes them. Compiled by clang into a library of its own,
// because offloading wants the compiler that made libomptarget; ham-bench loads it.
#include <omp.h>

#include "target_regions.hpp"

extern "C" {

int ham_bench_openmp_runs_on_device() {
  int initial = 1;
#pragma omp target map(from : initial)
  { initial = omp_is_initial_device(); }
  return omp_get_num_devices() > 0 && initial == 0 ? 1 : 0;
}

void ham_bench_openmp_empty() {
#pragma omp target
  {}
}

void ham_bench_openmp_plain() {}

void ham_bench_openmp_map(char* memory, std::size_t bytes) {
#pragma omp target enter data map(alloc : memory [0:bytes])
}

void ham_bench_openmp_unmap(char* memory, std::size_t bytes) {
#pragma omp target exit data map(delete : memory [0:bytes])
}

void ham_bench_openmp_to_device(char* memory, std::size_t bytes) {
#pragma omp target update to(memory [0:bytes])
}

void ham_bench_openmp_to_host(char* memory, std::size_t bytes) {
#pragma omp target update from(memory [0:bytes])
}

int ham_bench_openmp_add_one(char* memory, std::size_t bytes) {
  int wrong = 0;
#pragma omp target map(tofrom : wrong) map(alloc : memory [0:bytes])
  for (std::size_t i = 0; i < bytes; ++i) {
    wrong += memory[i] == 1 ? 0 : 1;
    memory[i] = static_cast<char>(memory[i] + 1);
  }
  return wrong;
}

}  // extern "C"
