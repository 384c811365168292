// The stencil of the Himeno benchmark as device functions: one source for GPUs, emulated ones and CPUs.
#pragma once

#include <ham/device.hpp>
#include <ham/offload.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>

/// Twelve arrays of coefficients, p, and p of the next iteration lie in one buffer, one behind the other.
constexpr std::uint32_t coefficients = 12;
constexpr float omega = 0.8F;
constexpr std::uint32_t max_threads = 65'536;
/// Threads that add up what all of them have found, so that one alone does not have to.
constexpr std::uint32_t adders = 128;

struct grid_shape {
  std::uint32_t i, j, k;     ///< points in each direction, with the boundary
  std::uint32_t row, plane;  ///< from one row, and from one plane, to the next
};

/// What some iterations have come to, and the seconds that they took.
struct iterated {
  double residual = 0;   ///< sum of squared changes of the last one
  double computing = 0;  ///< on the device
  double io = 0;         ///< on the host, formatting and writing lines
};

/// On the host: formats the line of an iteration and writes it; the seconds that took.
inline double print_line(std::uint32_t iteration, double residual);

HAM_DEVICE inline std::uint64_t device_ns() {
#if defined(__CUDA_ARCH__)
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
#else
  using namespace std::chrono;
  return static_cast<std::uint64_t>(duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count());
#endif
}

/// One point; gives its change.
HAM_DEVICE inline float relaxed(const float* const* a, const float* p, float* next, grid_shape of, std::size_t at) {
  const float *up = p + of.plane, *down = p - of.plane, *right = p + of.row, *left = p - of.row;
  const float *up_right = up + of.row, *up_left = up - of.row, *down_right = down + of.row, *down_left = down - of.row;
  const float s0 = a[0][at] * up[at] + a[1][at] * right[at] + a[2][at] * p[at + 1] +
                   a[4][at] * (up_right[at] - up_left[at] - down_right[at] + down_left[at]) +
                   a[5][at] * (right[at + 1] - left[at + 1] - right[at - 1] + left[at - 1]) +
                   a[6][at] * (up[at + 1] - down[at + 1] - up[at - 1] + down[at - 1]) + a[7][at] * down[at] +
                   a[8][at] * left[at] + a[9][at] * p[at - 1] + a[11][at];
  const float change = (s0 * a[3][at] - p[at]) * a[10][at];
  next[at] = p[at] + omega * change;
  return change;
}

/// The iteration of that number by all threads; gives the calling one's sum of squared changes.
HAM_DEVICE inline double sweep(ham::offload::buffer_ptr<float> fields, grid_shape of, std::uint32_t iteration) {
  const std::size_t points = std::size_t{of.i} * of.plane;
  const std::size_t columns = of.k - 2;
  const std::size_t rows = of.j - 2;
  const std::size_t inner = (of.i - 2) * rows * columns;
  const float* a[coefficients];
  for (std::uint32_t which = 0; which < coefficients; ++which) a[which] = fields.get() + which * points;
  float* const p = fields.get() + (coefficients + iteration % 2) * points;
  float* const next = fields.get() + (coefficients + (iteration + 1) % 2) * points;
  double own = 0;
  for (std::size_t point = ham::device::rank(); point < inner; point += ham::device::size()) {
    const std::size_t row = point / columns;
    const std::size_t at = (1 + row / rows) * of.plane + (1 + row % rows) * of.row + 1 + point % columns;
    const double change = relaxed(a, p, next, of, at);
    own += change * change;
  }
  return own;
}

/// The sum of what all threads have, for the thread of rank 0. `parts` has room for each thread and each adder.
HAM_DEVICE inline double added_up(double own, ham::offload::buffer_ptr<double> parts) {
  const std::uint32_t rank = ham::device::rank();
  const std::uint32_t size = ham::device::size();
  double* const sums = parts.get() + max_threads;
  parts[rank] = own;
  ham::device::sync();
  if (rank < adders) {
    double sum = 0;
    for (std::uint32_t i = rank; i < size; i += adders) sum += parts[i];
    sums[rank] = sum;
  }
  ham::device::sync();
  double all = 0;
  if (rank == 0) {
    for (std::uint32_t i = 0; i < adders && i < size; ++i) all += sums[i];
  }
  return all;
}

/// So many iterations from `first` on.
HAM_DEVICE iterated iterate(ham::offload::buffer_ptr<float> fields, grid_shape of, std::uint32_t first,
                            std::uint32_t count, ham::offload::buffer_ptr<double> parts) {
  const std::uint64_t begin = device_ns();
  double own = 0;
  for (std::uint32_t iteration = first; iteration < first + count; ++iteration) {
    if (iteration > first) ham::device::sync();
    own = sweep(fields, of, iteration);
  }
  iterated result;
  result.residual = added_up(own, parts);
  result.computing = 1e-9 * static_cast<double>(device_ns() - begin);
  return result;
}
HAM_DEVICE_FUNCTION(iterate, grid)

/// The same from the first one on; the device has the host print a line after each.
HAM_DEVICE iterated iterate_and_print(ham::offload::buffer_ptr<float> fields, grid_shape of, std::uint32_t count,
                                      ham::offload::buffer_ptr<double> parts) {
  iterated result;
  for (std::uint32_t iteration = 0; iteration < count; ++iteration) {
    const std::uint64_t begin = device_ns();
    result.residual = added_up(sweep(fields, of, iteration), parts);
    if (ham::device::rank() != 0) continue;
    result.computing += 1e-9 * static_cast<double>(device_ns() - begin);
    double seconds = 0;
    auto printed = ham::device::async<&print_line>(0, iteration + 1, result.residual);
    if (!printed.get(seconds)) ham::device::trap("the host has not printed a line");
    result.io += seconds;
  }
  return result;
}
HAM_DEVICE_FUNCTION(iterate_and_print, grid)

HAM_DEVICE std::uint32_t threads() { return ham::device::size(); }
HAM_DEVICE_FUNCTION(threads, grid)
