// --show.
#include "show.hpp"

#include "channel.hpp"
#include "host.hpp"
#include "shell_text.hpp"

#include <algorithm>
#include <filesystem>

namespace ham::inline v1::run {
namespace {

std::string assignments(const std::vector<std::pair<std::string, std::string>>& variables) {
  std::string result;
  for (const auto& [name, value] : variables) result += name + "=" + shell_word(value) + " ";
  return result;
}

std::string arguments(const run_options& options) {
  std::string result;
  for (std::size_t i = 1; i < options.program.size(); ++i) result += " " + shell_word(options.program[i]);
  return result;
}

/// One line for each program that it may be.
void show_server(std::ostream& out, const run_options& options, const target_group& one) {
  const std::string address = options.slurm ? "0.0.0.0" : address_of(one.machine);
  const auto line = [&](const std::string& program, const std::string& isa) {
    out << one.machine << (isa.empty() ? "" : " (" + isa + ")") << ": ";
    if (!options.folder.empty()) out << "cd " << shell_word(options.folder) << " && ";
    const std::string file = std::filesystem::path(options.program.front()).filename();
    const std::string there = options.copy ? "/tmp/ham-run.XXXXXX/" + shell_word(file) : shell_word(program);
    out << assignments(options.environment) << there << arguments(options) << " --ham-serve=" << address
        << ":0 --ham-key=fd:3 --ham-jobs=" << one.count << '\n';
  };
  bool any = false;
  for (const file_for& binary : options.binaries) {
    line(binary.path, binary.isa);
    any = any || binary.isa.empty();
  }
  if (!any) line(options.program.front(), options.binaries.empty() ? "" : "others");
}

void show_copies(std::ostream& out, const run_options& options, const target_group& one) {
  const auto line = [&](const std::string& file, const std::string& isa) {
    out << "here" << (isa.empty() ? "" : " (" + isa + ")") << ": " << shell_word(options.ssh) << " "
        << shell_word(one.machine) << " 'cat >/tmp/ham-run.XXXXXX/" << std::filesystem::path(file).filename().string()
        << "' <" << shell_word(file) << '\n';
  };
  bool any = false;
  for (const file_for& binary : options.binaries) {
    line(binary.path, binary.isa);
    any = any || binary.isa.empty();
  }
  if (!any) line(options.program.front(), "");
  for (const file_for& more : options.also_copied) line(more.path, more.isa);
}

}  // namespace

void show(std::ostream& out, const run_options& options, const std::vector<target_group>& groups) {
  std::vector<target_group> remote;
  std::ranges::copy_if(groups, std::back_inserter(remote), [](const target_group& one) { return !one.is_local(); });
  if (options.slurm && !remote.empty()) out << "here: " << shell_word(channel::command(options, remote)) << '\n';
  for (const target_group& one : remote) {
    if (!options.slurm) out << "here: " << shell_word(channel::command(options, {one})) << '\n';
    if (options.copy) show_copies(out, options, one);
    show_server(out, options, one);
  }
  const auto port = [&](std::size_t first) {
    const auto at = std::ranges::find(groups, first, &target_group::first);
    return address_of(at->machine) + ":PORT";
  };
  out << "here: ";
  if (!options.folder.empty()) out << "cd " << shell_word(options.folder) << " && ";
  out << assignments(options.environment);
  if (options.choose_nodes()) {
    out << "HAM_NODES=" << shell_word(node_list(groups, port, [](std::size_t) { return std::vector<std::string>{}; }))
        << " ";
  }
  if (!remote.empty()) out << "HAM_KEY=fd:N ";
  if (!options.cores.empty()) out << "HAM_CPU_AFFINITY=" << shell_word(options.cores) << " ";
  out << shell_word(options.program) << '\n';
}

}  // namespace ham::run
