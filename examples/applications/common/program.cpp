// What goes wrong becomes one line on standard error and an exit code.
#include "common/program.hpp"

#include <ham/offload.hpp>

#include <cstdio>
#include <exception>
#include <iostream>
#include <string>

#include "common/cores.hpp"
#include "common/report.hpp"

namespace app {
namespace {

int fail(const std::string& program, int code, const std::exception& reason) {
  std::fflush(stdout);
  std::fprintf(stderr, "%s: %s\n", program.c_str(), reason.what());
  return code;
}

int started(int argc, char** argv, CLI::App& options, settings& common, const std::function<outcome()>& body) {
  ham::runtime_options defaults;
  defaults.default_nodes = common.default_nodes.empty() ? target_per_core() : common.default_nodes;
  const ham::runtime targets(argc, argv, defaults);

  options.add_option("--targets", common.targets, "targets to use (default: all of HAM_NODES)")
      ->check(CLI::Range(1, 4000));
  options.add_option("--repetitions", common.repetitions, "repetitions of each measurement")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  options.add_flag("--json", common.json, "print the report as one JSON object");
  try {
    options.parse(argc, argv);
  } catch (const CLI::ParseError& stop) {
    return options.exit(stop) == 0 ? exit_code::success : exit_code::bad_input;
  }
  if (common.json && !ham::bench::json_available()) {
    throw bad_input("--json: not built in (nlohmann-json was not found at build time)");
  }
  const outcome result = body();
  print(std::cout, result.report, common.json ? format::json : format::text);
  std::cout.flush();
  if (result.correct) return exit_code::success;
  std::fprintf(stderr, "%s: a result is wrong; the report says which\n", result.report.name.c_str());
  return exit_code::wrong_result;
}

}  // namespace

int run(int argc, char** argv, CLI::App& options, settings& common, const std::function<outcome()>& body) {
  const std::string program = options.get_name();
  try {
    return started(argc, argv, options, common, body);
  } catch (const bad_input& failure) {
    return fail(program, exit_code::bad_input, failure);
  } catch (const ham::config_error& failure) {
    return fail(program, exit_code::bad_input, failure);
  } catch (const std::exception& failure) {
    return fail(program, exit_code::offload_failed, failure);
  }
}

}  // namespace app
