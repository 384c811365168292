// How long it takes until a host is told that the cable to a target was pulled.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace ham::inline v1::bench {

/// First argument of the process that measures, inside networks of its own; main() passes such a call on to
/// run_cut_link().
inline constexpr std::string_view cut_link_argument = "cut-link";

struct cut_link_times {
  double quiet_ms = 0;  ///< one call waits, nothing moves
  double busy_ms = 0;   ///< calls are sent all the time
};

/// Two machines, played by network namespaces with a switch between them; a cable is pulled and nobody is told. With
/// HAM_TCP_TIMEOUT as it is. Nothing where that is not permitted or iproute2 is not installed.
[[nodiscard]] std::optional<cut_link_times> measure_cut_link();

/// Main program of the process that measures. `argv` = {program, "cut-link", prefix of the networks' names}; what it
/// finds goes to descriptor 3.
int run_cut_link(int argc, char** argv);

}  // namespace ham::bench
