// Paper 4, Fig. 11, with a device: who has the main loop, and where the time goes. Prints a line per iteration, to a
// file that nobody else sees.
#pragma once

#include <ham/offload.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "device_himeno/fields.hpp"

/// Seconds of a run; `call` is all that is not in the other parts: calls in both directions, and waiting for them.
struct breakdown {
  double total = 0, computing = 0, transfer = 0, io = 0;
  [[nodiscard]] double call() const { return total - computing - transfer - io; }
};

struct model_run {
  breakdown time;
  solution found;
  std::uint32_t lines = 0;
};

inline double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Where the lines go; on the host.
struct printed_lines {
  std::FILE* file = std::tmpfile();
  std::uint32_t count = 0;
};
inline printed_lines& lines() {
  static printed_lines all;
  return all;
}

inline double print_line(std::uint32_t iteration, double residual) {
  const auto begin = std::chrono::steady_clock::now();
  printed_lines& to = lines();
  if (to.file != nullptr) {
    std::fprintf(to.file, "iteration %6u  residual %.9e\n", static_cast<unsigned>(iteration), residual);
    std::fflush(to.file);
  }
  if (iteration == to.count + 1) ++to.count;  // in their order
  return seconds_since(begin);
}

enum class model : std::uint8_t { local, kernels, callback };
inline const char* name_of(model which) {
  return which == model::local ? "no target" : which == model::kernels ? "kernels" : "callback";
}

inline model_run run_model(model which, ham::node_t node, const himeno::extents& grid, std::uint32_t iterations) {
  namespace offload = ham::offload;
  model_run run;
  lines().count = 0;
  const auto begin = std::chrono::steady_clock::now();
  if (which == model::local) {
    run.found = solved_here(grid, iterations,
                            [&](std::uint32_t i, double residual) { run.time.io += print_line(i, residual); });
    run.time.total = seconds_since(begin);
    run.time.computing = run.time.total - run.time.io;
    run.lines = lines().count;
    return run;
  }
  himeno::slab first(grid, 1, grid.i - 1);
  run.time.computing += seconds_since(begin);
  fields_on there(node, grid);
  const auto put = std::chrono::steady_clock::now();
  there.put(first);
  run.time.transfer += seconds_since(put);
  if (which == model::kernels) {
    for (std::uint32_t i = 0; i < iterations; ++i) {
      const iterated one =
          offload::sync(node, ham::fn<&iterate>, there.fields.ptr(), there.shape, i, 1U, there.parts.ptr());
      run.found.residual = one.residual;
      run.time.computing += one.computing;
      run.time.io += print_line(i + 1, one.residual);
    }
  } else {
    const iterated all = offload::sync(node, ham::fn<&iterate_and_print>, there.fields.ptr(), there.shape, iterations,
                                       there.parts.ptr());
    run.found.residual = all.residual;
    run.time.computing += all.computing;
    run.time.io += all.io;
  }
  const auto get = std::chrono::steady_clock::now();
  run.found.p = there.get(iterations);
  run.time.transfer += seconds_since(get);
  run.time.total = seconds_since(begin);
  run.lines = lines().count;
  return run;
}

/// The value below which that part of them lies.
inline double quantile(std::vector<double> values, double part) {
  std::sort(values.begin(), values.end());
  const double place = part * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

/// One row of the report, as the example himeno names its columns: the cells, each with its name.
struct model_row {
  model which;
  std::string transport;
  std::vector<breakdown> repetitions;

  [[nodiscard]] std::vector<std::pair<const char*, double>> cells() const {
    const auto ms = [this](double part, auto of) {
      std::vector<double> values;
      for (const breakdown& one : repetitions) values.push_back(1e3 * of(one));
      return quantile(values, part);
    };
    const auto total = [](const breakdown& one) { return one.total; };
    const auto computing = [](const breakdown& one) { return one.computing; };
    const auto transfer = [](const breakdown& one) { return one.transfer; };
    const auto call = [](const breakdown& one) { return one.call(); };
    const auto io = [](const breakdown& one) { return one.io; };
    return {{"total (ms)", ms(0.5, total)},
            {"lower quartile (ms)", ms(0.25, total)},
            {"upper quartile (ms)", ms(0.75, total)},
            {"computing (ms)", ms(0.5, computing)},
            {"lower quartile, computing (ms)", ms(0.25, computing)},
            {"upper quartile, computing (ms)", ms(0.75, computing)},
            {"transfer (ms)", ms(0.5, transfer)},
            {"lower quartile, transfer (ms)", ms(0.25, transfer)},
            {"upper quartile, transfer (ms)", ms(0.75, transfer)},
            {"call (ms)", ms(0.5, call)},
            {"lower quartile, call (ms)", ms(0.25, call)},
            {"upper quartile, call (ms)", ms(0.75, call)},
            {"I/O (ms)", ms(0.5, io)},
            {"lower quartile, I/O (ms)", ms(0.25, io)},
            {"upper quartile, I/O (ms)", ms(0.75, io)}};
  }
};

struct models_report {
  std::string title;
  std::vector<model_row> rows;
  std::uint32_t wrong = 0;  ///< runs with another result or other lines than without a target
  std::vector<std::string> remarks;
};

inline models_report measure_models(ham::node_t node, const std::string& size, const himeno::extents& grid,
                                    std::uint32_t iterations, std::uint32_t repetitions) {
  namespace offload = ham::offload;
  models_report report;
  report.title =
      "Himeno, size " + size + ", execution models: " + std::to_string(iterations) + " iterations, each prints a line";
  const offload::node_descriptor described = offload::get_node_descriptor(node);
  const solution right = solved_here(grid, iterations, [](std::uint32_t, double) {});
  for (const model which : {model::local, model::kernels, model::callback}) {
    model_row& row = report.rows.emplace_back(which, which == model::local ? "-" : described.transport());
    if (which != model::local) static_cast<void>(run_model(which, node, grid, 1));  // the device gets ready
    for (std::uint32_t i = 0; i < repetitions; ++i) {
      const model_run run = run_model(which, node, grid, iterations);
      row.repetitions.push_back(run.time);
      if (!close_to(run.found, right) || run.lines != iterations) ++report.wrong;
    }
  }
  report.remarks = {
      described.device().name + ", " + std::to_string(offload::sync(node, ham::fn<&threads>)) + " threads",
      "kernels: the host has the main loop and calls a device function for each iteration; callback: one device "
      "function has the loop, and has the host format and write each line",
      "computing: initialisation, and iterations by the clock of the device; transfer: put and get; I/O: formatting "
      "and writing; call: all else",
      "native (VE execution in the paper) is not there: no GPU formats and writes by itself"};
  return report;
}

inline std::string quoted(const std::string& text) {
  std::string all = "\"";
  for (const char one : text) {
    if (one == '"' || one == '\\') all += '\\';
    all += static_cast<unsigned char>(one) < 0x20 ? ' ' : one;
  }
  return all + '"';
}

/// As the applications print theirs: one JSON object.
inline void print_json(const models_report& report) {
  std::printf("{\n  \"name\": \"device_himeno\",\n  \"tables\": [{\"title\": %s, \"rows\": [",
              quoted(report.title).c_str());
  const char* between = "\n";
  for (const model_row& row : report.rows) {
    std::printf("%s    {\"model\": \"%s\", \"transport\": %s", between, name_of(row.which),
                quoted(row.transport).c_str());
    for (const auto& [name, value] : row.cells()) std::printf(", \"%s\": %.6g", name, value);
    std::printf("}");
    between = ",\n";
  }
  std::printf("\n  ]}],\n  \"bars\": [{\"name\": \"runs with another result or other lines than without a target\", ");
  std::printf("\"value\": %u, \"wanted\": \"<=\", \"limit\": 0, \"unit\": \"\", \"met\": %s}],\n  \"remarks\": [",
              static_cast<unsigned>(report.wrong), report.wrong == 0 ? "true" : "false");
  between = "\n    ";
  for (const std::string& one : report.remarks) {
    std::printf("%s%s", between, quoted(one).c_str());
    between = ",\n    ";
  }
  std::printf("\n  ]\n}\n");
}

inline void print_text(const models_report& report) {
  std::printf("%s\n", report.title.c_str());
  for (const model_row& row : report.rows) {
    std::printf("%-9s %-13s", name_of(row.which), row.transport.c_str());
    for (const auto& [name, value] : row.cells()) std::printf("  %s %.4g", name, value);
    std::printf("\n");
  }
  for (const std::string& one : report.remarks) std::printf("%s\n", one.c_str());
  std::printf("runs with another result or other lines than without a target: %u\n",
              static_cast<unsigned>(report.wrong));
}
