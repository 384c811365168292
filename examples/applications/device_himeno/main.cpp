// The Himeno benchmark's stencil as a device function, by all threads of each GPU, and on the CPU beside it.
// env: HAM_NODES=cuda-emulated:1/blocks=2/warps=1/lanes=1,shm:1
// timeout: 120
// expect: ^node 1 \(cuda-emulated, 2 threads\): residual [0-9.e-]+, as on the CPU within rounding$
// expect: ^node 2 \(cpu, 1 threads\): residual [0-9.e-]+, as on the CPU within rounding$
#include <ham/device.hpp>
#include <ham/offload.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "himeno/grid.hpp"

using namespace ham;

// ---- on the device

/// Twelve arrays of coefficients, p, and p of the next iteration lie in one buffer, one behind the other.
constexpr std::uint32_t coefficients = 12;
constexpr float omega = 0.8F;

struct grid_shape {
  std::uint32_t i, j, k;     ///< points in each direction, with the boundary
  std::uint32_t row, plane;  ///< from one row, and from one plane, to the next
};

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

/// So many iterations; gives the sum of squared changes of the last one. `parts` has room for each thread.
HAM_DEVICE double iterate(offload::buffer_ptr<float> fields, grid_shape of, std::uint32_t iterations,
                          offload::buffer_ptr<double> parts) {
  const std::size_t points = std::size_t{of.i} * of.plane;
  const std::size_t columns = of.k - 2;
  const std::size_t rows = of.j - 2;
  const std::size_t inner = (of.i - 2) * rows * columns;
  const float* a[coefficients];
  for (std::uint32_t which = 0; which < coefficients; ++which) a[which] = fields.get() + which * points;
  double own = 0;
  for (std::uint32_t iteration = 0; iteration < iterations; ++iteration) {
    float* const p = fields.get() + (coefficients + iteration % 2) * points;
    float* const next = fields.get() + (coefficients + (iteration + 1) % 2) * points;
    own = 0;
    for (std::size_t point = device::rank(); point < inner; point += device::size()) {
      const std::size_t row = point / columns;
      const std::size_t at = (1 + row / rows) * of.plane + (1 + row % rows) * of.row + 1 + point % columns;
      const double change = relaxed(a, p, next, of, at);
      own += change * change;
    }
    device::sync();
  }
  parts[device::rank()] = own;
  device::sync();
  double residual = 0;
  for (std::uint32_t i = 0; i < device::size(); ++i) residual += parts[i];
  return residual;
}
HAM_DEVICE_FUNCTION(iterate, grid)

HAM_DEVICE std::uint32_t threads() { return device::size(); }
HAM_DEVICE_FUNCTION(threads, grid)

// ---- on the host

namespace {

constexpr std::uint32_t iterations = 20;
constexpr std::size_t max_threads = 65'536;

struct solution {
  double residual = 0;
  std::vector<float> p;
};

/// With the functions of the example himeno, which share nothing with the above.
solution on_this_cpu(const himeno::extents& grid) {
  himeno::slab full(grid, 1, grid.i - 1);
  full.initialise();
  std::vector<double> planes(grid.i - 2);
  for (std::uint32_t i = 0; i < iterations; ++i) {
    full.sweep(full.first(), full.last(), planes.data());
    full.swap();
  }
  return {himeno::residual_of(planes), {full.p().begin(), full.p().end()}};
}

solution on_node(node_t node, const himeno::extents& grid) {
  himeno::slab begin(grid, 1, grid.i - 1);
  begin.initialise();
  const std::size_t points = begin.p().size();
  const offload::buffer<float> fields{node, (coefficients + 2) * points};
  const offload::buffer<double> parts{node, max_threads};
  const auto at = [&](std::size_t which) { return fields.ptr() + static_cast<std::ptrdiff_t>(which * points); };
  for (std::uint32_t which = 0; which < coefficients; ++which)
    offload::put(begin.coefficient(which).data(), at(which), points).get();
  offload::put(begin.p().data(), at(coefficients), points).get();
  offload::put(begin.p().data(), at(coefficients + 1), points).get();
  const grid_shape shape{static_cast<std::uint32_t>(grid.i), static_cast<std::uint32_t>(grid.j),
                         static_cast<std::uint32_t>(grid.k), static_cast<std::uint32_t>(grid.row()),
                         static_cast<std::uint32_t>(grid.plane())};
  solution result;
  const auto start = std::chrono::steady_clock::now();
  result.residual = offload::sync(node, fn<&iterate>, fields.ptr(), shape, iterations, parts.ptr());
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("node %d: %.1f MFLOPS\n", node,
              static_cast<double>(grid.inner_points()) * iterations * himeno::flops_per_point / seconds * 1e-6);
  result.p.resize(points);
  offload::get(at(coefficients + iterations % 2), result.p.data(), points).get();
  return result;
}

/// Devices multiply and add in one step, and add up in another order.
bool close_to(const solution& one, const solution& other, double difference) {
  return std::abs(one.residual - other.residual) <= 1e-4 * other.residual && difference <= 1e-5;
}

/// The largest of a point.
double difference_of(const solution& one, const solution& other) {
  double largest = one.p.size() == other.p.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < std::min(one.p.size(), other.p.size()); ++i) {
    const double here = std::abs(one.p[i] - other.p[i]);
    if (!(here < INFINITY)) return INFINITY;
    largest = std::max(largest, static_cast<double>(here));
  }
  return largest;
}

}  // namespace

int main(int argc, char** argv) {
  const himeno::extents grid = himeno::extents_of(argc > 1 ? argv[1] : "XS");
  if (grid.i == 0) {
    std::fprintf(stderr, "device_himeno: the sizes are XS, S, M and L\n");
    return 2;
  }
  const solution expected = on_this_cpu(grid);
  bool all_close = true;
  for (const node_t node : offload::targets()) {
    const solution found = on_node(node, grid);
    const double difference = difference_of(found, expected);
    const bool close = close_to(found, expected, difference);
    std::printf("node %d: difference from the CPU %.3g\n", node, difference);
    all_close = all_close && close;
    std::printf("node %d (%s, %u threads): residual %.6e, %s\n", node,
                offload::get_node_descriptor(node).device_type().c_str(), offload::sync(node, fn<&threads>),
                found.residual, close ? "as on the CPU within rounding" : "NOT as on the CPU");
  }
  return all_close ? EXIT_SUCCESS : EXIT_FAILURE;
}
