// The --ham-* options and what the environment says instead.
#include "runtime/options.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/log.hpp"
#include "base/numbers.hpp"
#include "base/privileges.hpp"
#include "base/settings.hpp"
#include "compose/transports.hpp"
#include "ham/msg/handler_table.hpp"
#include "ham/msg/manifest.hpp"
#include "job/key_file.hpp"
#include "job/node_list.hpp"
#include "runtime/option_settings.hpp"
#include "transport/fragments.hpp"

namespace ham::inline v1::detail {
namespace {

constexpr const char* help_begin =
    R"(Options of HAM, for every program that uses it; they are removed from the command line:
  --ham-nodes=LIST         targets, separated by commas; default: the ranks of the launcher that started this process,
                           else %s (environment: HAM_NODES); each:GROUP behind mpi: so many for each rank;
                           GROUP+restart: those that die are started again
)";

constexpr const char* help_rest =
    R"(  --ham-cpu-affinity=LIST  auto, the default: host and targets wake up on cores of their own while there are enough;
                           none: as the system decides; or cores to bind node 0, 1, 2, ... to: numbers and ranges, 0,2-3
                           (environment: HAM_CPU_AFFINITY)
  --ham-key=FILE           key that tcp targets want to see, or that --ham-serve asks for; a file that only its owner can
                           read, or fd:NUMBER, an inherited descriptor (environment: HAM_KEY)
  --ham-make-key=FILE      make a new key, and end
  --ham-serve=ADDR:PORT    wait for hosts there instead of being one
  --ham-jobs=NUMBER        hosts to serve at once; default 1
  --ham-process-count=N    N - 1 targets on this machine: --ham-nodes as the published HAM-Offload wrote it
  --ham-list-handlers      print the functions that can be offloaded, and end
  --ham-manifest           the same for programs such as ham-info, and end
  --ham-help               print this, and end
)";

/// What the transports say, those of launchers or the others.
std::string default_nodes(bool launched) {
  for (const transport::factory* const one : transports()) {
    if ((one->as_launched() != nullptr) != launched) continue;
    if (std::string nodes = one->default_nodes(); !nodes.empty()) return nodes;
  }
  return {};
}

void print_help() {
  std::printf(help_begin, default_nodes(false).c_str());
  for (const transport::factory* const one : transports()) {
    const auto [syntax, meaning] = one->help();
    if (syntax.empty()) continue;
    std::printf("%27s%s\n%29s%s\n", "", std::string(syntax).c_str(), "", std::string(meaning).c_str());
  }
  std::printf("%s\nEvery setting is an option and a variable of the environment, which gives way to the option:\n%s",
              help_rest, base::settings_help().c_str());
}

void list_handlers() {
  const msg::handler_table& table = msg::handler_table::local();
  for (std::uint32_t key = 0; key < table.size(); ++key) {
    std::printf("%u\t%s\t%s\t%s%s\n", key, table.kind(key) == msg::handler_kind::call ? "call" : "message",
                table.pretty_name(key).c_str(), table.layout(key).c_str(), table.duplicate(key) ? "\tambiguous" : "");
  }
}

/// For programs: the manifest in hexadecimal, on a line that nothing else begins like.
void print_manifest() {
  std::string line = "ham-manifest: ";
  for (const std::byte one : msg::manifest::local().serialise()) {
    constexpr const char* digits = "0123456789abcdef";
    line += digits[std::to_integer<unsigned>(one) >> 4U];
    line += digits[std::to_integer<unsigned>(one) & 15U];
  }
  std::puts(line.c_str());
}

/// The value of option `name` at argv[at], from "name=value" or the next argument; nullptr if it is another option.
const char* option_value(const char* name, int argc, char** argv, int& at) {
  const std::size_t length = std::strlen(name);
  if (argv[at] == nullptr || std::strncmp(argv[at], name, length) != 0) return nullptr;
  if (argv[at][length] == '=') return argv[at] + length + 1;
  if (argv[at][length] != '\0') return nullptr;
  if (at + 1 >= argc) throw config_error(std::string("the option ") + name + " needs a value (see --ham-help)");
  return argv[++at];
}

/// Nodes that are started on this machine: `processes` with the host.
std::string nodes_for(std::size_t processes) {
  if (processes == 1) return std::string(no_nodes);
  for (const transport::factory* const one : transports()) {
    if (one->as_starting() == nullptr || one->default_nodes().empty()) continue;
    return std::string(one->name()) + ":" + std::to_string(processes - 1);
  }
  return {};
}

/// `what` is said in front of the text.
std::size_t number_between(std::string_view text, std::int64_t least, std::int64_t most, const char* what) {
  if (const auto number = base::parse_integer(text, least, most)) return static_cast<std::size_t>(*number);
  throw config_error(what + std::string(text) + " is no number from " + std::to_string(least) + " to " +
                     std::to_string(most));
}

/// A list of nodes that the caller of the program has chosen. Targets can call what they like in their host, and a
/// privileged program starts or reaches none for its caller.
void expect_harmless(const std::string& nodes, const char* from) {
  if (nodes.empty() || !base::privileged()) return;
  for (const target_group& group : parse_nodes(nodes)) {
    if (!group.by->safe_for_privileged()) base::refuse_if_privileged(from + nodes + " is set");
  }
}

/// Options that read, make or open what the caller says; those that are settings say so in their table.
bool names_files_or_machines(const std::string& option) {
  return option.starts_with("--ham-make-key") || option.starts_with("--ham-serve");
}

/// Whether argv[at] is an option that sets a setting; then it is taken.
bool take_if_setting(runtime_options& options, std::optional<bool>& progress_thread, int argc, char** argv, int& at) {
  for (const base::setting_info& one : base::all_settings()) {
    const std::string name = base::option_of(one);
    const std::string given = argv[at] == nullptr ? "" : argv[at];
    const char* const text = name.empty() ? nullptr : option_value(name.c_str(), argc, argv, at);
    if (text == nullptr) continue;
    if (one.trusted) base::refuse_if_privileged("the option " + given + " is given");
    if (one.id == base::setting::nodes) expect_harmless(text, "--ham-nodes=");
    take_setting(options, one.id, text, name);
    if (one.id == base::setting::progress_thread) progress_thread = options.progress_thread;
    return true;
  }
  return false;
}

/// An option of programs that were started once for each node.
[[noreturn]] void refuse_former_option(const std::string& option) {
  throw config_error("the option " + option +
                     " (each process was started by hand and told its number) is not needed: "
                     "start the program once, with --ham-process-count=N or --ham-nodes=LIST for its targets; other "
                     "machines are reached by ham-run or --ham-serve (see --ham-help)");
}

/// --ham-process-count N, which stands for a list of nodes. Ranks of a launcher stay the nodes.
void take_process_count(runtime_options& options, const std::string& from_program, const char* text) {
  const std::size_t processes = number_between(text, 1, 4096, "--ham-process-count=");
  if (options.nodes != from_program) {
    throw config_error("--ham-process-count=" + std::string(text) + " and --ham-nodes=" + options.nodes +
                       " are both given, and both say which targets to start: leave one of them out");
  }
  if (default_nodes(true).empty()) options.nodes = nodes_for(processes);
}

}  // namespace

void take_options(int& argc, char**& argv, runtime_options& options) {
  std::optional<bool> progress_thread;  // of the command line: false is more than the member's false
  const char* process_count = nullptr;
  const std::string from_program = options.nodes;
  if (options.main_node == 0)
    options.main_node = static_cast<std::size_t>(base::number_of(base::setting::main_node).value_or(0));
  int kept = 0;
  for (int at = 0; at < argc; ++at) {
    if (at == 0 || std::strncmp(argv[at], "--ham-", 6) != 0) {
      argv[kept++] = argv[at];
      continue;
    }
    if (std::strcmp(argv[at], "--ham-help") == 0) {
      print_help();
      std::exit(0);
    }
    if (std::strcmp(argv[at], "--ham-list-handlers") == 0) {
      list_handlers();
      std::exit(0);
    }
    if (std::strcmp(argv[at], "--ham-manifest") == 0) {
      print_manifest();
      std::exit(0);
    }
    const std::string option = argv[at];
    if (names_files_or_machines(option)) base::refuse_if_privileged("the option " + option + " is given");
    if (take_if_setting(options, progress_thread, argc, argv, at)) continue;
    if (const char* fresh = option_value("--ham-make-key", argc, argv, at)) {
      make_key_file(fresh);
      std::exit(0);
    } else if (const char* address = option_value("--ham-serve", argc, argv, at))
      options.serve = address;
    else if (const char* jobs = option_value("--ham-jobs", argc, argv, at))
      options.jobs = number_between(jobs, 1, 1000, "--ham-jobs=");
    else if (const char* count = option_value("--ham-process-count", argc, argv, at))
      process_count = count;
    else if (option_value("--ham-address", argc, argv, at) || option_value("--ham-host-address", argc, argv, at))
      refuse_former_option(option);
    else
      throw config_error("unknown option " + option + " (options that begin with --ham- are HAM's; see --ham-help)");
  }
  argc = kept;
  argv[kept] = nullptr;
  if (process_count != nullptr) take_process_count(options, from_program, process_count);
  if (base::foreign_variable("HAM_OPTIONS") != nullptr) {
    base::log("runtime", base::log_level::warning,
              "HAM_OPTIONS is set, which is not read: give its options to the program, or set HAM_NODES and the other "
              "variables that --ham-help lists");
  }
  fill_from_environment(options);
  if (progress_thread) options.progress_thread = *progress_thread;
}

void fill_from_environment(runtime_options& options) {
  using base::setting;
  use_settings(options);
  if (options.nodes.empty()) {
    options.nodes = base::text_of(setting::nodes);
    expect_harmless(options.nodes, "HAM_NODES=");
  }
  if (options.cpu_affinity.empty()) options.cpu_affinity = base::text_of(setting::cpu_affinity);
  if (std::string key = base::text_of(setting::key); options.key.empty()) options.key = std::move(key);
  if (options.nodes.empty()) options.nodes = default_nodes(true);
  if (options.nodes.empty()) options.nodes = options.default_nodes;
  if (options.nodes.empty()) options.nodes = default_nodes(false);
  if (base::number_of(setting::progress_thread) == 1) options.progress_thread = true;
}

tcp_security security_of() {
  switch (base::number_of(base::setting::tcp_security).value_or(0)) {
    case 1: return tcp_security::off;
    case 2: return tcp_security::forced_off;
    default: return tcp_security::on;
  }
}

transport::tls_records records_of_tls() {
  const bool openssl = base::number_of(base::setting::tcp_records) == 1;
  return openssl ? transport::tls_records::openssl : transport::tls_records::ham;
}

std::size_t message_limit() {
  const auto bytes = base::number_of(base::setting::max_message);
  return bytes ? static_cast<std::size_t>(*bytes) : transport::usual_message_limit;
}

std::chrono::milliseconds tcp_timeout() {
  const auto time_ns = base::number_of(base::setting::tcp_timeout);
  return time_ns ? std::chrono::milliseconds(*time_ns / 1'000'000) : transport::network_options{}.timeout;
}

std::optional<std::int64_t> close_timeout_ns() { return base::number_of(base::setting::close_timeout); }

}  // namespace ham::detail
