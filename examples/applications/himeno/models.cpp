// The same iteration four times: what differs is who calls whom.
#include "himeno/models.hpp"

#include <array>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "common/host_output.hpp"
#include "common/targets.hpp"

namespace himeno {
namespace {

namespace offload = ham::offload;
using clock = std::chrono::steady_clock;

std::string line_of(std::uint64_t iteration, double residual) {
  char text[64];
  std::snprintf(text, sizeof text, "iteration %6llu  residual %.9e\n", static_cast<unsigned long long>(iteration),
                residual);
  return text;
}

/// On the host: formats a line and writes it; the seconds that took.
double print_line(std::uint64_t iteration, double residual) {
  const auto start = clock::now();
  app::host_output::write(line_of(iteration, residual));
  return app::seconds_since(start);
}

/// The whole program, wherever it runs. `print` gives the seconds of formatting and writing.
template <class Print>
model_run run_program(const extents& grid, std::uint64_t iterations, Print print) {
  model_run result;
  auto start = clock::now();
  slab full(grid, 1, grid.i - 1);
  result.time.computing += app::seconds_since(start);
  std::vector<double> planes(grid.i - 2);
  for (std::uint64_t iteration = 1; iteration <= iterations; ++iteration) {
    start = clock::now();
    full.sweep(1, grid.i - 1, planes.data());
    full.swap();
    result.residual = residual_of(planes);
    result.time.computing += app::seconds_since(start);
    result.time.io += print(iteration, result.residual);
  }
  return result;
}

/// The target formats; what it would write by a system call is forwarded.
model_run native_program(std::uint64_t i, std::uint64_t j, std::uint64_t k, std::uint64_t iterations) {
  return run_program({i, j, k}, iterations, [](std::uint64_t iteration, double residual) {
    const auto start = clock::now();
    const std::string line = line_of(iteration, residual);
    const double formatting = app::seconds_since(start);
    return formatting + app::host_output::forward(line);
  });
}

/// The host formats and writes.
model_run callback_program(std::uint64_t i, std::uint64_t j, std::uint64_t k, std::uint64_t iterations) {
  return run_program({i, j, k}, iterations, [](std::uint64_t iteration, double residual) {
    return offload::sync(0, ham::fn<&print_line>, iteration, residual);
  });
}

// ---- the host has the main loop

struct resident {
  std::array<offload::buffer_ptr<float>, coefficient_count> coefficients;
  offload::buffer_ptr<float> p, next;
  HAM_FIELDS(coefficients, p, next)
};
struct kernel_result {
  double residual = 0.0;
  double seconds = 0.0;
  HAM_FIELDS(residual, seconds)
};

/// The kernel: one iteration on arrays that the host has put there.
kernel_result sweep_kernel(std::uint64_t i, std::uint64_t j, std::uint64_t k, const resident& there) {
  const auto start = clock::now();
  arrays on;
  for (std::size_t which = 0; which < coefficient_count; ++which) {
    on.coefficients[which] = there.coefficients[which].get();
  }
  on.p = there.p.get();
  on.next = there.next.get();
  std::vector<double> planes(i - 2);
  sweep({i, j, k}, on, 1, i - 1, planes.data());
  return {residual_of(planes), app::seconds_since(start)};
}

model_run kernels_program(ham::node_t target, const extents& grid, std::uint64_t iterations) {
  model_run result;
  auto start = clock::now();
  slab full(grid, 1, grid.i - 1);
  result.time.computing += app::seconds_since(start);

  const std::size_t size = full.p().size();
  std::vector<offload::buffer<float>> memory;
  for (std::size_t which = 0; which < coefficient_count + 2; ++which) memory.emplace_back(target, size);
  resident there;
  start = clock::now();
  std::vector<offload::future<void>> puts;
  for (std::size_t which = 0; which < coefficient_count; ++which) {
    there.coefficients[which] = memory[which];
    puts.push_back(offload::put(full.coefficient(which).data(), there.coefficients[which], size));
  }
  there.p = memory[coefficient_count];
  there.next = memory[coefficient_count + 1];
  for (const auto& to : {there.p, there.next}) puts.push_back(offload::put(full.p().data(), to, size));
  for (auto& one : puts) one.get();
  result.time.transfer += app::seconds_since(start);

  for (std::uint64_t iteration = 1; iteration <= iterations; ++iteration) {
    const kernel_result done = offload::sync(target, ham::fn<&sweep_kernel>, std::uint64_t{grid.i},
                                             std::uint64_t{grid.j}, std::uint64_t{grid.k}, there);
    std::swap(there.p, there.next);
    result.residual = done.residual;
    result.time.computing += done.seconds;
    result.time.io += print_line(iteration, done.residual);
  }
  start = clock::now();
  offload::get(there.p, full.p().data(), size).get();
  result.time.transfer += app::seconds_since(start);
  return result;
}

}  // namespace

model_run run_model(app::model which, ham::node_t target, const extents& grid, std::uint64_t iterations) {
  const std::uint64_t i = grid.i;
  const std::uint64_t j = grid.j;
  const std::uint64_t k = grid.k;
  const auto start = clock::now();
  model_run result;
  switch (which) {
    case app::model::local: result = run_program(grid, iterations, &print_line); break;
    case app::model::native: result = offload::sync(target, ham::fn<&native_program>, i, j, k, iterations); break;
    case app::model::callback: result = offload::sync(target, ham::fn<&callback_program>, i, j, k, iterations); break;
    case app::model::kernels: result = kernels_program(target, grid, iterations); break;
  }
  result.time.total = app::seconds_since(start);
  return result;
}

}  // namespace himeno
