// The Himeno benchmark's stencil as a device function, by all threads of each GPU, and on the CPU beside it; with
// --models on the first node in execution models of paper 4 (Fig. 11), where every iteration prints a line.
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
#include <cstring>
#include <string>

#include "device_himeno/fields.hpp"
#include "device_himeno/kernels.hpp"
#include "device_himeno/models.hpp"
#include "himeno/grid.hpp"

using namespace ham;

double difference_of(const solution& one, const solution& other) {
  double largest = one.p.size() == other.p.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < std::min(one.p.size(), other.p.size()); ++i) {
    const double here = std::abs(one.p[i] - other.p[i]);
    if (!(here < INFINITY)) return INFINITY;
    largest = std::max(largest, static_cast<double>(here));
  }
  return largest;
}

bool close_to(const solution& one, const solution& other) {
  return std::abs(one.residual - other.residual) <= 1e-4 * other.residual && difference_of(one, other) <= 1e-5;
}

namespace {

struct options {
  std::string size = "XS";
  std::uint32_t iterations = 20;
  std::uint32_t repetitions = 5;
  bool models = false;
  bool json = false;
};

solution on_node(node_t node, const himeno::extents& grid, std::uint32_t iterations) {
  himeno::slab begin(grid, 1, grid.i - 1);
  fields_on there(node, grid);
  there.put(begin);
  solution result;
  const auto start = std::chrono::steady_clock::now();
  result.residual =
      offload::sync(node, fn<&iterate>, there.fields.ptr(), there.shape, 0U, iterations, there.parts.ptr()).residual;
  const double seconds = seconds_since(start);
  std::printf("node %d: %.1f MFLOPS\n", node,
              static_cast<double>(grid.inner_points()) * iterations * himeno::flops_per_point / seconds * 1e-6);
  result.p = there.get(iterations);
  return result;
}

int compare_nodes(const options& chosen, const himeno::extents& grid) {
  const solution expected = solved_here(grid, chosen.iterations, [](std::uint32_t, double) {});
  bool all_close = true;
  for (const node_t node : offload::targets()) {
    const solution found = on_node(node, grid, chosen.iterations);
    const bool close = close_to(found, expected);
    std::printf("node %d: difference from the CPU %.3g\n", node, difference_of(found, expected));
    all_close = all_close && close;
    std::printf("node %d (%s, %u threads): residual %.6e, %s\n", node,
                offload::get_node_descriptor(node).device_type().c_str(), offload::sync(node, fn<&threads>),
                found.residual, close ? "as on the CPU within rounding" : "NOT as on the CPU");
  }
  return all_close ? EXIT_SUCCESS : EXIT_FAILURE;
}

int compare_models(const options& chosen, const himeno::extents& grid) {
  if (offload::targets().empty()) {
    std::fprintf(stderr, "device_himeno: --models needs a target (HAM_NODES)\n");
    return 2;
  }
  const models_report report =
      measure_models(offload::targets().front(), chosen.size, grid, chosen.iterations, chosen.repetitions);
  (chosen.json ? print_json : print_text)(report);
  return report.wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/// Behind an option; 0 for what is no number of at least 1.
std::uint32_t number_of(const char* text) {
  char* end = nullptr;
  const unsigned long value = std::strtoul(text, &end, 10);
  return *text >= '0' && *text <= '9' && *end == '\0' && value <= 1'000'000 ? static_cast<std::uint32_t>(value) : 0;
}

bool read(int argc, char** argv, options& chosen) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--models") {
      chosen.models = true;
    } else if (word == "--json") {
      chosen.json = true;
    } else if (word == "--iterations" && i + 1 < argc) {
      chosen.iterations = number_of(argv[++i]);
    } else if (word == "--repetitions" && i + 1 < argc) {
      chosen.repetitions = number_of(argv[++i]);
    } else if (himeno::extents_of(word).i != 0) {
      chosen.size = word;
    } else {
      return false;
    }
  }
  return chosen.iterations != 0 && chosen.repetitions != 0 && (chosen.models || !chosen.json);
}

}  // namespace

int main(int argc, char** argv) {
  options chosen;
  if (!read(argc, argv, chosen)) {
    std::fprintf(
        stderr,
        "device_himeno [XS|S|M|L] [--iterations N] [--models [--json] [--repetitions N]]: XS, S, M and L are the "
        "sizes\n");
    return 2;
  }
  const himeno::extents grid = himeno::extents_of(chosen.size);
  return chosen.models ? compare_models(chosen, grid) : compare_nodes(chosen, grid);
}
