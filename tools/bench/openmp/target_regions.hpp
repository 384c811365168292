// What the library of OpenMP target regions offers. One thread.
#pragma once

#include <cstddef>

extern "C" {
/// 1 if target regions run on a device and not on the host in its place.
int ham_bench_openmp_runs_on_device();
void ham_bench_openmp_empty();
/// Does nothing, as a function like any other.
void ham_bench_openmp_plain();
/// Memory of the device for that of the host, until unmapped.
void ham_bench_openmp_map(char* memory, std::size_t bytes);
void ham_bench_openmp_unmap(char* memory, std::size_t bytes);
/// The first bytes of mapped memory.
void ham_bench_openmp_to_device(char* memory, std::size_t bytes);
void ham_bench_openmp_to_host(char* memory, std::size_t bytes);
/// Adds one to each on the device; returns how many were not one before.
int ham_bench_openmp_add_one(char* memory, std::size_t bytes);
}
