// ham-trace: what the nodes of a job do, and did last.
// link: ham::ham
#include "last.hpp"

#include <ham/offload/detail/standard_descriptors.hpp>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <iostream>

int main(int argc, char** argv) {
  ham::detail::occupy_standard_descriptors();
  CLI::App app("ham-trace: what the nodes of a job do, and did last.");
  app.require_subcommand(1);
  std::int64_t pid = 0;
  std::size_t events = 10;
  CLI::App* const last = app.add_subcommand(
      "last",
      "the last events of a process and of the others of its job on this machine, also of those that have died");
  last->add_option("PID", pid, "the host or a target; it may have died, if another process of its job lives")
      ->required()
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{INT32_MAX}));
  last->add_option("-n,--events", events, "of each thread, at most")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    ham::trace::print_last(std::cout, ham::read_recordings(pid), events);
    std::cout.flush();
    return std::cout ? 0 : 1;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "ham-trace: %s\n", problem.what());
    return 1;
  }
}
