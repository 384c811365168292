// What the program prints about its input and its result.
#include "report.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

namespace cg {
namespace {

namespace offload = ham::offload;

std::string text(const char* format, double number, const char* unit) {
  char buffer[64];
  std::snprintf(buffer, sizeof(buffer), format, number);
  return std::string(buffer) + unit;
}

std::string duration(double seconds) {
  if (seconds >= 1.0) return text("%.2f", seconds, " s");
  if (seconds >= 1e-3) return text("%.1f", seconds * 1e3, " ms");
  return text("%.2f", seconds * 1e6, " us");
}

std::string bytes(std::uint64_t count) {
  const auto number = static_cast<double>(count);
  if (number >= 1e9) return text("%.2f", number * 1e-9, " GB");
  if (number >= 1e6) return text("%.1f", number * 1e-6, " MB");
  return text("%.1f", number * 1e-3, " kB");
}

double largest_error(const std::vector<double>& x) {
  double error = 0.0;
  for (const double element : x) error = std::max(error, std::abs(element - 1.0));
  return error;
}

void print_line(const char* what, const std::string& value) { std::printf("%-16s%s\n", what, value.c_str()); }

}  // namespace

double measure_empty_call() {
  constexpr std::size_t calls = 1001;
  std::vector<double> seconds(calls);
  for (double& s : seconds) {
    const auto start = std::chrono::steady_clock::now();
    offload::sync(1, ham::fn<&on_target::nothing>);
    s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  const auto median = seconds.begin() + calls / 2;
  std::nth_element(seconds.begin(), median, seconds.end());
  return *median;
}

void print_problem(const std::string& name, const csr_matrix& matrix, const solver_options& options) {
  print_line("matrix",
             name + ": " + std::to_string(matrix.rows()) + " rows, " + std::to_string(matrix.nonzeros()) + " nonzeros");
  print_line("preconditioner", options.precond == preconditioner::jacobi ? "jacobi" : "none");
  std::fflush(stdout);
}

void print_result(const solution& result, const solver_options& options, const offload::statistics& used,
                  double empty_call_seconds) {
  const auto iterations = static_cast<double>(std::max<std::int64_t>(1, result.iterations));
  for (const auto& share : result.shares) {
    const auto& node = offload::get_node_descriptor(share.node);
    print_line(("node " + std::to_string(share.node)).c_str(),
               "rows " + std::to_string(share.rows.first + 1) + " to " + std::to_string(share.rows.last) + ", " +
                   std::to_string(share.nonzeros) + " nonzeros, on " + node.name() + " by " + node.transport());
  }
  print_line("converged", result.converged ? "yes" : "no");
  print_line("residual", text("%.2e", result.residual, " = |b - A x| / |b|, recomputed on the host; wanted ") +
                             text("%.1e", options.tolerance, ""));
  print_line("error", text("%.2e", largest_error(result.x), " = largest |x_i - 1|"));
  print_line("iterations", std::to_string(result.iterations));
  print_line("time", duration(result.seconds) + ", " + duration(result.seconds / iterations) + " per iteration; " +
                         duration(result.costs.computing) + " of it computing on the slowest target");
  print_line("calls made", std::to_string(used.calls_sent));
  print_line("bytes moved", bytes(used.bytes_put) + " to targets, " + bytes(used.bytes_got) + " back");
  print_line("cost per call", duration(result.costs.per_call()) + " beyond its computing; an empty call takes " +
                                  duration(empty_call_seconds));
}

}  // namespace cg
