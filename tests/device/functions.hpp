// Device functions of every scope, and what they send to hosts: for nvcc (functions.cu), and for the host's compiler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ham/device.hpp"

namespace device_functions {

// ---- called by devices, on any node

struct progress {
  std::uint32_t step;
  double factor;
};
void report(progress now);
double damping(std::uint32_t step);
void note_thread(std::uint32_t thread, double value) noexcept;
int refuses(int value);

// ---- on the device

struct pair {
  double first;
  int second;
};

HAM_DEVICE inline void nothing() noexcept {}

HAM_DEVICE inline pair swapped(pair what, const int& more) {
  return {static_cast<double>(what.second + more), static_cast<int>(what.first)};
}

HAM_DEVICE inline std::uint32_t threads_and(std::span<const float> of) {
  ham::device::sync();
  return static_cast<std::uint32_t>(of.size()) + ham::device::size();
}

/// The sum of what each thread has added up; `parts` has room for all of them.
HAM_DEVICE inline double sum_of(std::span<const double> of, ham::offload::buffer_ptr<double> parts) {
  double own = 0;
  for (std::size_t i = ham::device::rank(); i < of.size(); i += ham::device::size()) own += of[i];
  parts[ham::device::rank()] = own;
  ham::device::sync();
  double all = 0;
  for (std::uint32_t i = 0; i < ham::device::size(); ++i) all += parts[i];
  return all;
}

HAM_DEVICE inline double axpy(double a, ham::offload::buffer_ptr<double> x, ham::offload::buffer_ptr<double> y,
                              std::size_t n) {
  for (std::size_t i = ham::device::rank(); i < n; i += ham::device::size()) y[i] += a * x[i];
  ham::device::sync();
  return n == 0 ? 0 : y[n - 1];
}

HAM_DEVICE inline std::uint32_t grid_threads() { return ham::device::size(); }

HAM_DEVICE inline std::uint64_t until_stopped(std::uint64_t rounds) {
  while (!ham::device::stop_requested()) ++rounds;
  return rounds;
}

HAM_DEVICE inline void traps(int value) {
  if (value == 3) ham::device::trap("as asked");
}

HAM_DEVICE inline int prints(int value) {
  ham::device::print("the device says ", value, ' ', true);
  return value;
}

/// Steps of a relaxation, each with a factor that the host is asked for.
HAM_DEVICE inline double relax(ham::offload::buffer_ptr<double> x, std::size_t n, std::uint32_t steps,
                               ham::offload::buffer_ptr<double> shared) {
  for (std::uint32_t step = 0; step < steps && !ham::device::stop_requested(); ++step) {
    if (ham::device::rank() == 0) {
      double factor = 0;
      auto answer = ham::device::async<&damping>(0, step);
      if (!answer.get(factor)) ham::device::print("no damping in step ", step);
      ham::device::ping<&report>(0, progress{step, factor});
      shared[0] = factor;
    }
    ham::device::sync();
    for (std::size_t i = ham::device::rank(); i < n; i += ham::device::size()) x[i] *= shared[0];
    ham::device::sync();
  }
  ham::device::ping<&note_thread>(0, ham::device::rank(), x[0]);
  return x[0];
}

HAM_DEVICE inline bool is_refused(int value) {
  auto answer = ham::device::async<&refuses>(0, value);
  int got = 0;
  return !answer.get(got);
}

}  // namespace device_functions

HAM_DEVICE_FUNCTION(device_functions::nothing, block)
HAM_DEVICE_FUNCTION(device_functions::swapped, thread)
HAM_DEVICE_FUNCTION(device_functions::threads_and, block)
HAM_DEVICE_FUNCTION(device_functions::sum_of, warp)
HAM_DEVICE_FUNCTION(device_functions::axpy, block)
HAM_DEVICE_FUNCTION(device_functions::grid_threads, grid)
HAM_DEVICE_FUNCTION(device_functions::until_stopped, thread)
HAM_DEVICE_FUNCTION(device_functions::traps, thread)
HAM_DEVICE_FUNCTION(device_functions::prints, thread)
HAM_DEVICE_FUNCTION(device_functions::relax, block)
HAM_DEVICE_FUNCTION(device_functions::is_refused, thread)
