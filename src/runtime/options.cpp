// The --ham-* options and what the environment says instead.
#include "runtime/options.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "ham/msg/handler_table.hpp"
#include "runtime/engine.hpp"

namespace ham::detail {
namespace {

constexpr const char* help_text =
    R"(Options of HAM, for every program that uses it; they are removed from the command line:
  --ham-nodes=LIST         targets, separated by commas: shm[:COUNT][@CORE[+CORE...]] (this program),
                           exec:PROGRAM[*COUNT][@CORE[+CORE...]] (another build of it; words may stand in front, as in
                           exec:qemu-aarch64-static ./app.aarch64), tcp://HOST:PORT[*COUNT], loopback[:COUNT];
                           default shm:1 (environment: HAM_NODES)
  --ham-cpu-affinity=LIST  cores for node 0, 1, 2, ...: numbers and ranges, 0,2-3 (environment: HAM_CPU_AFFINITY)
  --ham-list-handlers      print the functions that can be offloaded, and end
  --ham-help               print this, and end
)";

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
