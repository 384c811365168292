// Where the time of an execution model goes (paper 4, Fig. 11).
#pragma once

#include <ham/offload.hpp>

#include <string>
#include <vector>

#include "bench/report.hpp"

namespace app {

/// Who has the main loop: nobody but this process; a program on the target that the host only starts, and that forwards
/// its system calls; the host, which calls kernels; a program on the target, which calls the host for what that does
/// better.
enum class model : std::uint8_t { local, native, kernels, callback };
[[nodiscard]] const char* to_string(model which);
/// "native", "kernels", "callback", or "all" of them with `local` in front.
[[nodiscard]] std::vector<model> models_named(const std::string& name);

struct breakdown {
  double total = 0.0;      ///< seconds, as the host sees it
  double computing = 0.0;  ///< in kernels, where they run
  double transfer = 0.0;   ///< of arrays, by put and get
  double io = 0.0;         ///< formatting, and writing the file
  HAM_FIELDS(total, computing, transfer, io)

  /// All else: calls in both directions with their arguments, and waiting for them.
  [[nodiscard]] double call() const { return total - computing - transfer - io; }
};

/// Title of a table of the models over this transport: says so if the link is emulated.
[[nodiscard]] std::string breakdown_title(const std::string& program, const std::string& transport,
                                          const std::string& amount);
/// Columns of a row of breakdown_row.
[[nodiscard]] std::vector<std::string> breakdown_columns();
/// The medians over repetitions, and quartiles. In milliseconds.
[[nodiscard]] std::vector<ham::bench::cell> breakdown_row(model which, const std::string& transport,
                                                          const std::vector<breakdown>& repetitions);

}  // namespace app
