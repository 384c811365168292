// What the program prints about its input and its result.
#include "report.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

namespace cg {
namespace {

namespace offload = ham::offload;
using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point start) { return std::chrono::duration<double>(clock::now() - start).count(); }

std::string text(const char* format, double number, const char* unit) {
  char buffer[64];
  std::snprintf(buffer, sizeof(buffer), format, number);
  return std::string(buffer) + unit;
}

std::string duration(double seconds) {
  if (seconds >= 1.0) return text("%.2f", seconds, " s");
  if (seconds >= 1e-3) return text("%.1f", seconds * 1e3, " ms");
  if (seconds >= 1e-5) return text("%.1f", seconds * 1e6, " us");
  return text("%.2f", seconds * 1e6, " us");
}

std::string bytes(double count) {
  if (count >= 1e9) return text("%.2f", count * 1e-9, " GB");
  if (count >= 1e6) return text("%.1f", count * 1e-6, " MB");
  if (count >= 1e4) return text("%.1f", count * 1e-3, " kB");
  return text("%.0f", count, " bytes");
}

std::string counted(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

double largest_error(const std::vector<double>& x) {
  double error = 0.0;
  for (const double element : x) error = std::max(error, std::abs(element - 1.0));
  return error;
}

void print_line(const char* what, const std::string& value) { std::printf("%-16s%s\n", what, value.c_str()); }

/// What leaves the host and what comes to it, in messages and by put and get.
double bytes_through_host(const offload::statistics& host) {
  return static_cast<double>(host.bytes_sent + host.bytes_received + host.bytes_put + host.bytes_got);
}

void print_targets(const outcome& result) {
  for (const auto& share : result.shares) {
    const auto node = offload::get_node_descriptor(share.node);
    print_line(("node " + std::to_string(share.node)).c_str(),
               "rows " + std::to_string(share.rows.first + 1) + " to " + std::to_string(share.rows.last) + ", " +
                   std::to_string(share.nonzeros) + " nonzeros, " + std::to_string(share.halo) +
                   " elements from other nodes; on " + node.name() + " by " + node.transport());
  }
}

std::string ratio(double over, const std::string& what, double under, const std::string& of) {
  return text("%.3f", over / under, " = ") + what + " / " + of;
}

void print_comparison(const comparison& best, std::size_t targets) {
  if (best.rounds == 0) return;
  const std::string on_targets = counted(targets, "target");
  const std::string on_threads = counted(targets, "thread");
  print_line("in turns", counted(static_cast<std::size_t>(best.rounds), "round") +
                             " of the first iterations, the best of each: " + duration(best.targets) +
                             " per iteration on " + on_targets +
                             (best.one_target > 0.0 ? ", " + duration(best.one_target) + " on 1 target" : ""));
  if (best.one_thread <= 0.0) return;
  print_line("without HAM", duration(best.one_thread) +
                                " per iteration of the same solver on 1 thread of this process" +
                                (best.threads > 0.0 ? ", " + duration(best.threads) + " on " + on_threads : ""));
  print_line("speed-up", text("%.2f", best.one_thread / best.targets, " = 1 thread / ") + on_targets);
  if (best.one_target > 0.0) {
    print_line("scaling",
               ratio(best.targets, on_targets, best.one_target, "1 target") +
                   (best.threads > 0.0 ? "; " + ratio(best.threads, on_threads, best.one_thread, "1 thread") : ""));
  }
  const double one = best.one_target > 0.0 ? best.one_target : best.targets;
  print_line("HAM costs",
             ratio(one, "1 target", best.one_thread, "1 thread") +
                 (best.threads > 0.0 ? "; " + ratio(best.targets, on_targets, best.threads, on_threads) : ""));
}

void print_speed(const outcome& result) {
  const auto iterations = static_cast<double>(std::max<std::int64_t>(1, result.solved.iterations));
  const double one = result.solved.seconds / iterations;
  const std::size_t targets = result.shares.size();
  print_line("set-up",
             duration(result.setup_seconds) + " to bring matrix and vectors to " + counted(targets, "target"));
  print_line("time", duration(result.solved.seconds) + ", " + duration(one) + " per iteration; " +
                         text("%.0f", 100.0 * result.solved.waiting / std::max(result.solved.seconds, 1e-9), " %") +
                         " of it targets waited for each other");
  print_comparison(result.compared, targets);
  const double host = bytes_through_host(result.moved.host) / iterations;
  print_line("through host", bytes(host) + " per iteration (scalars, in " +
                                 counted(result.moved.host.calls_sent, "call") + "); the vectors stay on the targets");
  print_line("among targets", bytes(static_cast<double>(result.moved.between_targets) / iterations) +
                                  " per iteration (borders of their rows, and sums)");
  print_line("a call costs", duration(result.empty_call_seconds) +
                                 " to an empty function of node 1 and back (median): what is shorter, do not offload");
}

// ---- JSON

std::string in_quotes(const std::string& from) {
  std::string result = "\"";
  for (const char c : from) {
    if (c == '"' || c == '\\') result += '\\';
    result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return result + '"';
}

std::string field(const char* key, const std::string& value) { return in_quotes(key) + ": " + value; }
std::string field(const char* key, double number) {
  return field(key, std::isfinite(number) ? text("%.9g", number, "") : "null");
}

/// Best time of a contestant of the comparison; nothing if it did not take part.
std::string turn_row(const std::string& who, double seconds) {
  if (!(seconds > 0.0)) return "";
  return "{" + field("solver", in_quotes(who)) + ", " + field("time per iteration, best turn: us", seconds * 1e6) + "}";
}

std::string turn_rows(const comparison& best, std::size_t targets) {
  std::string rows;
  for (const std::string& row :
       {turn_row("HAM, " + counted(targets, "target"), best.targets), turn_row("HAM, 1 target", best.one_target),
        turn_row("without HAM, 1 thread", best.one_thread),
        turn_row("without HAM, " + counted(targets, "thread"), best.threads)}) {
    if (!row.empty()) rows += (rows.empty() ? "" : ", ") + row;
  }
  return rows;
}

}  // namespace

void print_json(const std::string& name, const csr_matrix& matrix, const outcome& result,
                const solver_options& options) {
  const auto iterations = static_cast<double>(std::max<std::int64_t>(1, result.solved.iterations));
  const std::string row =
      field("targets", static_cast<double>(result.shares.size())) + ", " +
      field("rows", static_cast<double>(matrix.rows())) + ", " +
      field("nonzeros", static_cast<double>(matrix.nonzeros())) + ", " +
      field("converged", in_quotes(result.solved.converged ? "yes" : "no")) + ", " +
      field("residual", result.residual) + ", " + field("largest error", largest_error(result.x)) + ", " +
      field("iterations", static_cast<double>(result.solved.iterations)) + ", " +
      field("solve: s", result.solved.seconds) + ", " +
      field("time per iteration, solve: us", result.solved.seconds / iterations * 1e6) + ", " +
      field("waiting: % of the solve", 100.0 * result.solved.waiting / std::max(result.solved.seconds, 1e-9)) + ", " +
      field("set-up: s", result.setup_seconds) + ", " +
      field("through host: bytes per iteration", bytes_through_host(result.moved.host) / iterations) + ", " +
      field("among targets: bytes per iteration", static_cast<double>(result.moved.between_targets) / iterations) +
      ", " + field("empty call: us", result.empty_call_seconds * 1e6);
  std::string tables = "{" + field("title", in_quotes(name)) + ", \"rows\": [{" + row + "}]}";
  if (result.compared.rounds > 0) {
    tables += ", {" +
              field("title", in_quotes("the best of " + std::to_string(result.compared.rounds) + " turns each")) +
              ", \"rows\": [" + turn_rows(result.compared, result.shares.size()) + "]}";
  }
  std::printf("{\"name\": \"conjugate_gradient\", \"tables\": [%s], \"bars\": [], \"remarks\": [%s]}\n", tables.c_str(),
              in_quotes(text("relative residual wanted: %.1e", options.tolerance, "")).c_str());
}

double measure_empty_call() {
  constexpr std::size_t calls = 1001;
  std::vector<double> seconds(calls);
  for (double& s : seconds) {
    const auto start = clock::now();
    offload::sync(1, ham::fn<&on_target::nothing>);
    s = seconds_since(start);
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

void print_outcome(const outcome& result, const solver_options& options) {
  print_targets(result);
  print_line("converged", result.solved.converged ? "yes" : "no");
  print_line("residual", text("%.2e", result.residual, " = |b - A x| / |b|, recomputed on the host; wanted ") +
                             text("%.1e", options.tolerance, ""));
  print_line("error", text("%.2e", largest_error(result.x), " = largest |x_i - 1|"));
  print_line("iterations", std::to_string(result.solved.iterations));
  print_speed(result);
}

}  // namespace cg
