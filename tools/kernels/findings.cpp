// Output for people and for programs.
#include "findings.hpp"

#include <cstddef>
#include <cstdio>
#include <numeric>
#include <string>
#include <utility>

namespace ham::inline v1::kernels {
namespace {

// A spawn for each of `count` kernels, which are as many runs.
struct spawn_each {
  double us;      // the sum of those that were measured, else so many times the median
  double low_us;  // so many times the quartiles of one
  double high_us;
  bool measured;
};

spawn_each spawns_of(int count, const std::vector<double>& spawns_us) {
  const auto at = [&](double part) { return count * bench::quantile(spawns_us, part); };
  const bool measured = static_cast<std::size_t>(count) <= spawns_us.size();
  const double us = measured ? std::accumulate(spawns_us.begin(), spawns_us.begin() + count, 0.0) : at(0.5);
  return {us, at(0.25), at(0.75), measured};
}

void print_fields(const std::string& name, const bench::comparison& of) {
  std::printf("\"%s\": %.3f, \"%s_quartiles\": [%.3f, %.3f], ", name.c_str(), of.measured, name.c_str(),
              of.measured_low, of.measured_high);
  std::printf("\"%s_floor\": %.3f, \"%s_floor_quartiles\": [%.3f, %.3f], ", name.c_str(), of.floor, name.c_str(),
              of.floor_low, of.floor_high);
  std::printf("\"%s_floor_ratio\": %.3f, \"%s_floor_ratio_quartiles\": [%.3f, %.3f]", name.c_str(), of.median_of_ratios,
              name.c_str(), of.ratio_low, of.ratio_high);
}

}  // namespace

bench::bar findings::bar() const {
  const row& most = rows.back();
  const std::string count = std::to_string(most.kernels);
  return {count + " calls / one call_multiple of " + count, most.call.measured / most.call_multiple.measured,
          bench::bar::direction::at_least, 5, ""};
}

void print_table(const findings& what) {
  const double spawn_us = bench::median(what.spawns_us);
  std::printf("kernels: %d parents, %d children, %d repetitions; one spawn %.0f ms, quartiles %.0f and %.0f ms\n\n",
              what.parents, what.children, what.repetitions, spawn_us / 1000,
              bench::quantile(what.spawns_us, 0.25) / 1000, bench::quantile(what.spawns_us, 0.75) / 1000);
  std::printf("%-40s|  Fig. 4: without the spawn, us                 |  until run, us\n",
              "Fig. 3: start of kernels, ms");
  std::printf("%8s %11s %9s %9s |  %9s %8s %9s %8s %7s |  %9s %8s %9s %8s\n", "kernels", "spawn each", "call",
              "multiple", "call", "floor", "multiple", "floor", "ratio", "call", "floor", "multiple", "floor");
  for (const row& one : what.rows) {
    const spawn_each each = spawns_of(one.kernels, what.spawns_us);
    std::printf("%8d %10.0f%c %9.1f %9.1f |  %9.1f %8.1f %9.1f %8.1f %7.1f |  %9.1f %8.1f %9.1f %8.1f\n", one.kernels,
                each.us / 1000, each.measured ? ' ' : '*', (spawn_us + one.call.measured) / 1000,
                (spawn_us + one.call_multiple.measured) / 1000, one.call.measured, one.call.floor,
                one.call_multiple.measured, one.call_multiple.floor, one.call.measured / one.call_multiple.measured,
                one.call_run.measured, one.call_run.floor, one.call_multiple_run.measured, one.call_multiple_run.floor);
  }
  std::printf("spawn each: the sum of %zu spawns, each in a run of its own; * so many times their median\n",
              what.spawns_us.size());
  std::printf("floor: MPI_Send and MPI_Recv of the same bytes between the same processes\n");
  if (!what.bare_spawns_us.empty()) {
    std::printf("floor of one spawn: %.0f ms, quartiles %.0f and %.0f ms, of %zu spawns of children that do nothing\n",
                bench::median(what.bare_spawns_us) / 1000, bench::quantile(what.bare_spawns_us, 0.25) / 1000,
                bench::quantile(what.bare_spawns_us, 0.75) / 1000, what.bare_spawns_us.size());
  }
  const bench::bar bar = what.bar();
  std::printf("\n%s: %.1f (bar: %.0f)%s\n", bar.name.c_str(), bar.value, bar.limit, bar.met() ? "" : " MISSED");
}

void print_json(const findings& what) {
  std::printf("{\n  \"benchmark\": \"kernels\",\n  \"parents\": %d,\n  \"children\": %d,\n  \"repetitions\": %d,\n",
              what.parents, what.children, what.repetitions);
  std::printf("  \"spawn_us\": %.1f,\n  \"spawn_us_quartiles\": [%.1f, %.1f],\n  \"spawns_measured\": %zu,\n",
              bench::median(what.spawns_us), bench::quantile(what.spawns_us, 0.25),
              bench::quantile(what.spawns_us, 0.75), what.spawns_us.size());
  if (!what.bare_spawns_us.empty()) {
    std::printf(
        "  \"bare_spawn_us\": %.1f,\n  \"bare_spawn_us_quartiles\": [%.1f, %.1f],\n  \"bare_spawns_measured\": %zu,\n",
        bench::median(what.bare_spawns_us), bench::quantile(what.bare_spawns_us, 0.25),
        bench::quantile(what.bare_spawns_us, 0.75), what.bare_spawns_us.size());
  }
  const bench::bar bar = what.bar();
  std::printf(
      "  \"bars\": [{\"name\": \"%s\", \"value\": %.3f, \"wanted\": \">=\", \"limit\": %.0f, \"unit\": \"\", "
      "\"met\": %s}],\n",
      bar.name.c_str(), bar.value, bar.limit, bar.met() ? "true" : "false");
  std::printf("  \"rows\": [\n");
  for (const row& one : what.rows) {
    const spawn_each each = spawns_of(one.kernels, what.spawns_us);
    std::printf("    {\"kernels\": %d, \"spawn_each_us\": %.1f, \"spawn_each_us_quartiles\": [%.1f, %.1f], ",
                one.kernels, each.us, each.low_us, each.high_us);
    std::printf("\"spawn_each_measured\": %s", each.measured ? "true" : "false");
    for (const auto& [name, of] : {std::pair{"call_us", &one.call},
                                   {"call_run_us", &one.call_run},
                                   {"call_multiple_us", &one.call_multiple},
                                   {"call_multiple_run_us", &one.call_multiple_run}}) {
      std::printf(",\n     ");
      print_fields(name, *of);
    }
    std::printf("}%s\n", &one == &what.rows.back() ? "" : ",");
  }
  std::printf("  ]\n}\n");
}

}  // namespace ham::kernels
