// The arrays of the benchmark on a node, and the same solved on this CPU.
#pragma once

#include <ham/offload.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device_himeno/kernels.hpp"
#include "himeno/grid.hpp"

struct solution {
  double residual = 0;
  std::vector<float> p;
};

/// The iterations of the example himeno, which shares nothing with the device functions; `after` is called with the
/// number of each and its residual.
template <class After>
solution solved_here(const himeno::extents& grid, std::uint32_t iterations, After after) {
  himeno::slab full(grid, 1, grid.i - 1);
  std::vector<double> planes(grid.i - 2);
  for (std::uint32_t i = 1; i <= iterations; ++i) {
    full.sweep(full.first(), full.last(), planes.data());
    full.swap();
    after(i, himeno::residual_of(planes));
  }
  return {himeno::residual_of(planes), {full.p().begin(), full.p().end()}};
}

/// Memory of a node.
struct fields_on {
  fields_on(ham::node_t node, const himeno::extents& grid)
      : points(grid.i * grid.plane()),
        shape{static_cast<std::uint32_t>(grid.i), static_cast<std::uint32_t>(grid.j),
              static_cast<std::uint32_t>(grid.k), static_cast<std::uint32_t>(grid.row()),
              static_cast<std::uint32_t>(grid.plane())},
        fields(node, (coefficients + 2) * points),
        parts(node, max_threads + adders) {}

  /// As the benchmark begins.
  void put(himeno::slab& begin) {
    for (std::uint32_t which = 0; which < coefficients; ++which)
      ham::offload::put(begin.coefficient(which).data(), at(which), points).get();
    ham::offload::put(begin.p().data(), at(coefficients), points).get();
    ham::offload::put(begin.p().data(), at(coefficients + 1), points).get();
  }
  /// What so many iterations have left.
  [[nodiscard]] std::vector<float> get(std::uint32_t iterations) const {
    std::vector<float> p(points);
    ham::offload::get(at(coefficients + iterations % 2), p.data(), points).get();
    return p;
  }
  [[nodiscard]] ham::offload::buffer_ptr<float> at(std::size_t which) const {
    return fields.ptr() + static_cast<std::ptrdiff_t>(which * points);
  }

  std::size_t points;
  grid_shape shape;
  ham::offload::buffer<float> fields;
  ham::offload::buffer<double> parts;
};

/// The largest difference of a point.
double difference_of(const solution& one, const solution& other);
/// Devices multiply and add in one step, and add up in another order.
bool close_to(const solution& one, const solution& other);
