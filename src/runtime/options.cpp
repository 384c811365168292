// Parsing of HAM_NODES, core lists and --ham-* options.
#include "runtime/options.hpp"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "ham/msg/handler_table.hpp"
#include "runtime/engine.hpp"

namespace ham::detail {
namespace {

constexpr std::size_t most_targets = 4000;

constexpr const char* help_text =
    R"(Options of HAM, for every program that uses it; they are removed from the command line:
  --ham-nodes=LIST         targets to start: shm[:COUNT][@CORE[+CORE...]] or loopback[:COUNT], separated by commas;
                           default shm:1 (environment: HAM_NODES)
  --ham-cpu-affinity=LIST  cores for node 0, 1, 2, ...: numbers and ranges, 0,2-3 (environment: HAM_CPU_AFFINITY)
  --ham-list-handlers      print the functions that can be offloaded, and end
  --ham-help               print this, and end
)";

/// A number at the start of `text`, which it is removed from.
bool take_number(std::string_view& text, std::size_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

[[noreturn]] void bad_nodes(std::string_view all, std::string_view part, const std::string& why) {
  throw config_error("HAM_NODES=\"" + std::string(all) + "\": cannot use \"" + std::string(part) + "\" (" + why +
                     ") write groups like shm:2 or shm:2@2+3 or loopback:4, separated by commas");
}

node_group parse_group(std::string_view all, const std::string_view part) {
  node_group group;
  std::string_view rest = part;
  const std::size_t name_end = rest.find_first_of(":@");
  group.transport = std::string(rest.substr(0, name_end));
  rest.remove_prefix(name_end == std::string_view::npos ? rest.size() : name_end);
  if (group.transport != "shm" && group.transport != "loopback") {
    bad_nodes(all, part, "this build knows the transports shm and loopback");
  }
  if (rest.starts_with(':')) {
    rest.remove_prefix(1);
    if (!take_number(rest, group.count)) bad_nodes(all, part, "a number of targets must follow the colon");
    if (group.count > most_targets) bad_nodes(all, part, "at most " + std::to_string(most_targets) + " targets");
  }
  if (rest.starts_with('@')) {
    if (group.transport != "shm") bad_nodes(all, part, "only shm targets can be given cores");
    group.cpus = parse_cores(rest.substr(1), '+');
    rest = {};
  }
  if (!rest.empty()) bad_nodes(all, part, "\"" + std::string(rest) + "\" is left over");
  return group;
}

void list_handlers() {
  const msg::handler_table& table = msg::handler_table::local();
  for (std::uint32_t key = 0; key < table.size(); ++key) {
    std::printf("%u\t%s\t%s\t%s%s\n", key, table.kind(key) == msg::handler_kind::call ? "call" : "message",
                table.pretty_name(key).c_str(), table.layout(key).c_str(), table.duplicate(key) ? "\tambiguous" : "");
  }
}

/// The value of option `name` at argv[at], from "name=value" or the next argument; nullptr if it is another option.
const char* option_value(const char* name, int argc, char** argv, int& at) {
  const std::size_t length = std::strlen(name);
  if (std::strncmp(argv[at], name, length) != 0) return nullptr;
  if (argv[at][length] == '=') return argv[at] + length + 1;
  if (argv[at][length] != '\0') return nullptr;
  if (at + 1 >= argc) throw config_error(std::string("the option ") + name + " needs a value (see --ham-help)");
  return argv[++at];
}

}  // namespace

std::vector<int> parse_cores(std::string_view text, char separator) {
  std::vector<int> cores;
  std::string_view rest = text;
  for (;;) {
    std::size_t first = 0;
    bool good = take_number(rest, first);
    std::size_t last = first;
    if (good && rest.starts_with('-')) {
      rest.remove_prefix(1);
      good = take_number(rest, last);
    }
    good = good && first <= last && last < 4096;
    if (!good) {
      throw config_error("cannot read the list of cores \"" + std::string(text) +
                         "\" (numbers from 0 to 4095 and ranges like 2-3 are expected)");
    }
    for (std::size_t core = first; core <= last; ++core) cores.push_back(static_cast<int>(core));
    if (rest.empty()) return cores;
    if (rest.front() != separator) {
      throw config_error("cannot read the list of cores \"" + std::string(text) + "\" (entries are separated by '" +
                         separator + "')");
    }
    rest.remove_prefix(1);
  }
}

std::vector<node_group> parse_nodes(std::string_view text) {
  std::vector<node_group> groups;
  std::size_t total = 0;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    groups.push_back(parse_group(text, rest.substr(0, comma)));
    total += groups.back().count;
    if (total > most_targets) bad_nodes(text, rest, "at most " + std::to_string(most_targets) + " targets in all");
    if (groups.back().transport != groups.front().transport) {
      bad_nodes(text, rest, "loopback targets cannot be mixed with others");
    }
    if (comma == std::string_view::npos) return groups;
    rest.remove_prefix(comma + 1);
  }
}

void take_options(int& argc, char**& argv, runtime_options& options) {
  int kept = 0;
  for (int at = 0; at < argc; ++at) {
    if (at == 0 || std::strncmp(argv[at], "--ham-", 6) != 0) {
      argv[kept++] = argv[at];
      continue;
    }
    if (std::strcmp(argv[at], "--ham-help") == 0) {
      std::fputs(help_text, stdout);
      std::exit(0);
    }
    if (std::strcmp(argv[at], "--ham-list-handlers") == 0) {
      list_handlers();
      std::exit(0);
    }
    const std::string option = argv[at];
    if (const char* nodes = option_value("--ham-nodes", argc, argv, at))
      options.nodes = nodes;
    else if (const char* cores = option_value("--ham-cpu-affinity", argc, argv, at))
      options.cpu_affinity = cores;
    else
      throw config_error("unknown option " + option + " (options that begin with --ham- are HAM's; see --ham-help)");
  }
  argc = kept;
  argv[kept] = nullptr;
  fill_from_environment(options);
}

void fill_from_environment(runtime_options& options) {
  const auto fill = [](std::string& value, const char* name) {
    const char* const text = std::getenv(name);
    if (value.empty() && text != nullptr) value = text;
  };
  fill(options.nodes, "HAM_NODES");
  fill(options.cpu_affinity, "HAM_CPU_AFFINITY");
  if (options.nodes.empty()) options.nodes = "shm:1";
  const char* const progress = std::getenv("HAM_PROGRESS_THREAD");
  if (progress != nullptr && std::strcmp(progress, "0") != 0 && *progress != '\0') options.progress_thread = true;
}

}  // namespace ham::detail
