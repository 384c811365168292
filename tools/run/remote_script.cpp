// Scripts for the remote end.
#include "remote_script.hpp"

#include "shell_text.hpp"

#include <filesystem>
#include <sstream>

namespace ham::inline v1::run {
namespace {

constexpr std::string_view greets = "ham-run-end ";
constexpr std::string_view tells_folder = "ham-run-folder ";
constexpr std::string_view waits = "ham: waiting for hosts at ";

std::optional<std::string> after(std::string_view start, std::string_view line) {
  if (!line.starts_with(start)) return std::nullopt;
  return std::string(line.substr(start.size()));
}

std::string go_to_folder(const run_options& options) {
  if (!options.folder.empty()) {
    const std::string folder = shell_word_on_one_line(options.folder);
    return "cd " + folder + " || exit 1; ";
  }
  // The same path need not exist there.
  return "cd " + shell_word_on_one_line(std::filesystem::current_path().string()) + " 2>/dev/null || :; ";
}

std::string choose_program(const run_options& options, const server& what) {
  if (!what.copied_to.empty()) {
    const std::string folder = shell_word_on_one_line(what.copied_to);
    const std::string name = std::filesystem::path(options.program.front()).filename();
    return "LD_LIBRARY_PATH=" + folder +
           "${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}; export LD_LIBRARY_PATH; ham_program=" + folder + "/" +
           shell_word_on_one_line(name) + "; ";
  }
  std::string text = "case $(uname -m) in ";
  for (const file_for& one : options.binaries) {
    text += (one.isa.empty() ? "*" : one.isa) + ") ham_program=" + shell_word_on_one_line(one.path) + ";; ";
  }
  return text + "*) ham_program=" + shell_word_on_one_line(options.program.front()) + ";; esac; ";
}

std::string choose_jobs(const server& what) {
  if (what.groups.size() == 1) return "ham_jobs=" + std::to_string(what.groups.front().count) + "; ";
  std::string text = "case $SLURMD_NODENAME in ";
  for (const target_group& one : what.groups) {
    text += shell_word(one.machine) + ") ham_jobs=" + std::to_string(one.count) + ";; ";
  }
  return text + "*) echo \"ham-run: this node is not known\" >&2; exit 1;; esac; ";
}

/// Ends the server when standard input, descriptor 3 here, ends.
constexpr const char* watch =
    R"(ham_over=; trap 'ham_over=1' USR1; )"
    R"(( exec >/dev/null 2>&1; while read -r ham_line; do :; done <&3; exec 3<&-; kill -USR1 $$; kill -TERM "$ham_server"; )"
    R"(for ham_line in 1 2 3 4 5; do kill -0 "$ham_server" || exit 0; sleep 1; done; kill -KILL "$ham_server" ) & )"
    R"(ham_watcher=$!; exec 3<&- </dev/null; )"
    R"(trap 'kill -TERM "$ham_server"' HUP INT TERM; )";

/// The key from the file that the line names. A folder of another machine may show it a little late.
constexpr const char* read_key_file =
    R"(case $ham_key in file:*) ham_file=${ham_key#file:}; ham_key=; )"
    R"(for ham_line in 1 2 3 4 5; do [ -r "$ham_file" ] && break; sleep 1; done; )"
    R"({ IFS= read -r ham_key <"$ham_file"; } 2>/dev/null || { )"
    R"(echo "ham-run: $(uname -n) does not see the key of this run in $ham_file: --key-folder names a folder that all nodes share" )"
    R"(>&2; exit 1; };; esac; )";

/// A signal that interrupts the waiting makes another round of it necessary. A server that was ended in order has done
/// well, lest srun complains.
constexpr const char* wait_for_end =
    R"(wait "$ham_server" 2>/dev/null; ham_status=$?; )"
    R"(while kill -0 "$ham_server" 2>/dev/null; do wait "$ham_server" 2>/dev/null; ham_status=$?; done; )"
    R"(kill "$ham_watcher" 2>/dev/null; [ -n "$ham_over" ] && [ "$ham_status" = 143 ] && exit 0; exit "$ham_status")";

}  // namespace

std::string remote_script() {
  // No single quote: the text must pass through whatever shell the user has there.
  return R"(echo "ham-run-end $(uname -m) ${SLURMD_NODENAME:--} ${SSH_CONNECTION:--}" >&2; )"
         R"(while IFS= read -r ham_line; do eval "$ham_line"; done)";
}

std::optional<greeting> parse_greeting(std::string_view line) {
  const auto rest = after(greets, line);
  if (!rest) return std::nullopt;
  greeting result;
  std::istringstream words(*rest);
  std::string client;
  std::string client_port;
  words >> result.isa >> result.slurm_node >> client >> client_port >> result.address;
  if (result.slurm_node == "-") result.slurm_node.clear();
  if (result.isa.empty()) return std::nullopt;
  return result;
}

std::string folder_line() {
  return R"(ham_folder=$(mktemp -d "${TMPDIR:-/tmp}/ham-run.XXXXXX") || exit 1; trap 'rm -rf "$ham_folder"' 0; )"
         R"(trap 'exit 1' HUP INT TERM; echo "ham-run-folder $ham_folder" >&2)";
}

std::optional<std::string> parse_folder(std::string_view line) { return after(tells_folder, line); }

std::string store_script() {
  return R"(IFS= read -r folder && IFS= read -r name && cat >"$folder/$name.part" && chmod 700 "$folder/$name.part" && )"
         R"(mv "$folder/$name.part" "$folder/$name")";
}

std::string serve_line(const run_options& options, const server& what) {
  std::string text = R"(ham_newline=$(printf "\nx"); ham_newline=${ham_newline%x}; )" + go_to_folder(options);
  for (const auto& [name, value] : options.environment) {
    text.append(name).append("=").append(shell_word_on_one_line(value));
    text.append("; export ").append(name).append("; ");
  }
  text += choose_program(options, what) + choose_jobs(what);
  text += R"(command -v "$ham_program" >/dev/null || { echo "ham-run: no program $ham_program" >&2; exit 127; }; )";
  text += "set --";
  for (std::size_t i = 1; i < options.program.size(); ++i) text += " " + shell_word_on_one_line(options.program[i]);
  text += "; IFS= read -r ham_key || exit 1; ";
  text += read_key_file;
  text += "exec 3<&0; ";
  // echo is part of every shell, so that the key is in no list of processes.
  text += R"(echo "$ham_key" | "$ham_program" "$@" --ham-serve=)" + shell_word(what.address + ":0") +
          R"( --ham-key=fd:3 --ham-jobs="$ham_jobs" 3<&0 </dev/null & ham_server=$!; ham_key=; )";
  return text + watch + wait_for_end;
}

std::string key_file_line(const std::string& path) { return "file:" + path; }

std::optional<std::string> parse_waiting(std::string_view line) {
  auto address = after(waits, line);
  constexpr std::string_view of_addresses = "0123456789abcdefABCDEF.:[]";
  // It becomes part of HAM_NODES, in which a machine must not name programs to start here.
  if (address && address->find_first_not_of(of_addresses) != std::string::npos) address.reset();
  return address;
}

std::string program_for(const run_options& options, const std::string& isa) {
  for (const file_for& one : options.binaries) {
    if (one.isa.empty() || one.isa == isa) return one.path;
  }
  return options.program.front();
}

}  // namespace ham::run
