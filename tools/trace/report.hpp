// ham-trace report: where the time of calls went, by function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "pftrace_reader.hpp"

namespace ham::inline v1::trace {

/// Times in nanoseconds.
struct function_report {
  std::size_t calls = 0;
  std::vector<std::int64_t> times;  ///< of calls from their begin to their answer, of pings to the end of execution
  std::int64_t waiting = 0;         ///< in all: in queues, and in the function for others
  std::int64_t computing = 0;       ///< in the function, without what is waiting or moving
  std::int64_t moving = 0;          ///< of arguments and results: encoding, sending, decoding, and put and get

  [[nodiscard]] double mean() const noexcept;
  /// Of that share of the calls, which is sorted for that; 0: there is none.
  [[nodiscard]] std::int64_t percentile(double share);
};

struct trace_report {
  std::map<std::string, function_report> functions;  ///< transfers by their names, too
  std::map<std::string, function_report> spans;      ///< `calls`: how often; `times`: of each
};

[[nodiscard]] trace_report report_of(const shown_trace& trace);
/// Tables, and what the trace says of itself.
void print_report(std::ostream& out, trace_report report, const shown_trace& trace);

}  // namespace ham::trace
