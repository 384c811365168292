// ham-run: starts an application with targets on this and other machines.
#include "hostfile.hpp"
#include "job.hpp"
#include "options.hpp"
#include "plan.hpp"
#include "problem.hpp"
#include "show.hpp"
#include "slurm.hpp"

#include <ham/offload/detail/standard_descriptors.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace {

using namespace ham::run;

/// Other exit codes are the host's.
constexpr int own_failure = 125;

/// Values as they are written.
struct command_line {
  run_options options;
  std::string hosts;
  std::string hostfile;
  std::vector<std::string> binaries;
  std::vector<std::string> also_copied;
  std::vector<std::string> environment;
  std::string ssh;
  std::string key_folder;
};

/// An empty shell variable must not mean this machine.
std::string names_something(const std::string& value) { return value.empty() ? "names nothing" : ""; }

void describe(CLI::App& app, command_line& line) {
  run_options& options = line.options;
  app.description(
      "ham-run [OPTIONS] PROGRAM [ARGUMENTS]: starts a program that uses HAM as host, with targets on this machine "
      "and others.");
  app.prefix_command();
  app.add_option("-n,--nodes", options.nodes, "nodes in all, the host included; default: all places of the machines")
      ->check(CLI::Range(std::size_t{1}, max_targets + 1));
  app.add_option("--hosts", line.hosts,
                 "machines of the targets: NAME[:COUNT],..., reached through ssh; localhost: here")
      ->check(names_something);
  app.add_option("--hostfile", line.hostfile, "the same from a file, one NAME[:COUNT] or NAME slots=COUNT per line")
      ->check(names_something);
  app.add_option("--binary", line.binaries, "[ISA=]PATH: program for machines whose uname -m says ISA; repeatable")
      ->allow_extra_args(false);
  app.add_flag("--copy", options.copy, "copy the program to a temporary folder of each machine, removed at the end");
  app.add_option("--with", line.also_copied,
                 "[ISA=]PATH: another file to copy with it, a library or module; repeatable")
      ->allow_extra_args(false);
  app.add_option("--env", line.environment, "NAME[=VALUE]: variable for all nodes; repeatable")
      ->allow_extra_args(false);
  app.add_option("--bind", options.cores, "cores for the host and the targets of this machine, by node: 0,2-3");
  app.add_option("--wdir", options.folder, "folder to start all nodes in; default: the current one, where it exists");
  app.add_option("--ssh", line.ssh, "command instead of ssh, with its options; '...' holds a word together");
  app.add_option(
      "--key-folder", line.key_folder,
      "Slurm: folder shared by all nodes, for the key of the run; default: the home folder; -: through srun, "
      "which does not encrypt it unless Slurm's TLS is on");
  app.add_option("--timeout", options.timeout_s, "seconds for the start")
      ->check(CLI::Range(1, 86400))
      ->capture_default_str();
  app.add_flag("--output-prefix", options.output_prefix, "begin each line of a node's output with its number: [3]");
  app.add_flag("--show", options.show, "print what would be done, and end");
  app.footer(
      "Inside a Slurm allocation the targets are started on its nodes through srun, unless --hosts or --hostfile "
      "says otherwise. Ends with the exit code of the host, 128 + N if signal N ended it, 125 if it was not started.");
}

std::vector<file_for> files(const std::vector<std::string>& texts) {
  std::vector<file_for> result;
  for (const std::string& text : texts) {
    result.push_back(parse_file_for(text));
    result.back().path = absolute_program(result.back().path);
  }
  // The one for all others is the last that is tried.
  std::stable_partition(result.begin(), result.end(), [](const file_for& one) { return !one.isa.empty(); });
  return result;
}

std::vector<std::string> program_of(std::vector<std::string> words) {
  if (!words.empty() && words.front() == "--") words.erase(words.begin());
  if (words.empty()) throw problem("no program is named; see ham-run --help");
  if (words.front().starts_with("-")) {
    throw problem("unknown option " + words.front() +
                  "; options of ham-run stand before the program, see ham-run --help");
  }
  words.front() = absolute_program(words.front());
  return words;
}

/// What the transport must be told alike at both ends of a connection.
void take_along(run_options& options) {
  for (const char* const name : {"HAM_TCP_SECURITY", "HAM_TCP_RECORDS", "HAM_POOL_THREADS"}) {
    const char* const value = std::getenv(name);
    const bool given = std::ranges::find(options.environment, name, &std::pair<std::string, std::string>::first) !=
                       options.environment.end();
    if (value != nullptr && !given) options.environment.insert(options.environment.begin(), {name, value});
  }
}

/// Where the key of a run goes under Slurm; empty: nowhere but through srun.
std::string key_folder(const std::string& named) {
  if (named == "-") return {};
  const char* const home = std::getenv("HOME");
  if (named.empty() && (home == nullptr || *home == '\0')) {
    throw problem(
        "HOME is not set (the key of the run is put there for the nodes); name a shared folder with --key-folder");
  }
  return absolute_program((named.empty() ? home : named) + std::string("/."));
}

run_options settle(command_line line, std::vector<std::string> words) {
  run_options options = std::move(line.options);
  options.program = program_of(std::move(words));
  if (!line.hosts.empty() && !line.hostfile.empty())
    throw problem("--hosts and --hostfile exclude each other; give one");
  if (!line.hosts.empty()) options.machines = parse_machines(line.hosts);
  if (!line.hostfile.empty()) options.machines = read_hostfile(line.hostfile);
  if (options.machines.empty()) {
    options.machines = slurm_allocation();
    options.slurm = !options.machines.empty();
  }
  if (options.slurm) options.key_folder = key_folder(line.key_folder);
  if (!line.ssh.empty()) options.ssh = split_words(line.ssh);
  if (options.ssh.empty()) throw problem("--ssh names no command");
  options.binaries = files(line.binaries);
  options.also_copied = files(line.also_copied);
  if (!options.also_copied.empty() && !options.copy) throw problem("--with copies further files; it needs --copy");
  if (options.copy && options.slurm) {
    throw problem(
        "--copy is not possible in a Slurm allocation (its nodes are not reached through ssh); put the program "
        "into a folder that they share, or use sbcast");
  }
  for (const std::string& one : line.environment) options.environment.push_back(parse_variable(one));
  take_along(options);
  options.folder = options.folder.empty() ? "" : absolute_program(options.folder + "/");
  return options;
}

int run(const run_options& options) {
  const char* const this_node = std::getenv("SLURMD_NODENAME");
  const std::vector<target_group> groups = plan_targets(options, this_node == nullptr ? "" : this_node);
  if (options.show) {
    show(std::cout, options, groups);
    if (!std::cout.flush()) throw problem(std::string("cannot write the output (") + std::strerror(errno) + ")");
    return EXIT_SUCCESS;
  }
  return job(options, groups).run();
}

}  // namespace

int main(int argc, char** argv) {
  ham::detail::occupy_standard_descriptors();
  CLI::App app;
  command_line line;
  describe(app, line);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& end) {
    return app.exit(end) == 0 ? EXIT_SUCCESS : own_failure;
  }
  try {
    return run(settle(line, app.remaining()));
  } catch (const interrupted& end) {
    return 128 + end.signal;
  } catch (const std::exception& what) {
    std::cerr << "ham-run: " << what.what() << '\n';
    return own_failure;
  }
}
