// The --ham-* options and what the environment says instead.
#include "runtime/options.hpp"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/numbers.hpp"
#include "base/privileges.hpp"
#include "ham/msg/handler_table.hpp"
#include "ham/msg/manifest.hpp"
#include "runtime/group_loader.hpp"
#include "runtime/key_file.hpp"
#include "runtime/node_list.hpp"
#include "transport/fragments.hpp"
#include "transport/network.hpp"

namespace ham::detail {
namespace {

constexpr const char* help_text =
    R"(Options of HAM, for every program that uses it; they are removed from the command line:
  --ham-nodes=LIST         targets, separated by commas: shm[:COUNT][@CORE[+CORE...]] (this program),
                           exec:PROGRAM[*COUNT][@CORE[+CORE...]] (another build of it; words may stand in front, as in
                           exec:qemu-aarch64-static ./app.aarch64), tcp://HOST:PORT[*COUNT], loopback[:COUNT],
                           mpi (the ranks of this mpirun or srun; comes first); default mpi under an MPI launcher, else
                           shm:1 (environment: HAM_NODES)
  --ham-cpu-affinity=LIST  auto, the default: host and targets wake up on cores of their own while there are enough;
                           none: as the system decides; or cores to bind node 0, 1, 2, ... to: numbers and ranges, 0,2-3
                           (environment: HAM_CPU_AFFINITY)
  --ham-key=FILE           key that tcp targets want to see, or that --ham-serve asks for; a file that only its owner can
                           read, or fd:NUMBER, an inherited descriptor (environment: HAM_KEY)
  --ham-make-key=FILE      make a new key, and end
  --ham-serve=ADDR:PORT    wait for hosts there instead of being one
  --ham-jobs=NUMBER        hosts to serve at once; default 1
  --ham-list-handlers      print the functions that can be offloaded, and end
  --ham-manifest           the same for programs such as ham-info, and end
  --ham-help               print this, and end
)";

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

/// `what` is said in front of the text.
std::size_t number_between(std::string_view text, std::int64_t least, std::int64_t most, const char* what) {
  if (const auto number = base::parse_whole(text, least, most)) return static_cast<std::size_t>(*number);
  throw config_error(what + std::string(text) + " is no number from " + std::to_string(least) + " to " +
                     std::to_string(most));
}

/// A list of nodes that the caller of the program has chosen. Targets can call what they like in their host, and a
/// privileged program starts or reaches none for its caller.
void expect_harmless(const std::string& nodes, const char* from) {
  if (nodes.empty() || !base::privileged()) return;
  for (const node_group& group : parse_nodes(nodes)) {
    if (group.transport != "shm" && group.transport != "loopback") base::refuse_if_privileged(from + nodes + " is set");
  }
}

/// Empty if it is not set.
std::string_view variable(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? std::string_view() : text;
}

/// Options that read, make or open what the caller says.
bool names_files_or_machines(const std::string& option) {
  return option.starts_with("--ham-key") || option.starts_with("--ham-make-key") || option.starts_with("--ham-serve");
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
    if (std::strcmp(argv[at], "--ham-manifest") == 0) {
      print_manifest();
      std::exit(0);
    }
    const std::string option = argv[at];
    if (names_files_or_machines(option)) base::refuse_if_privileged("the option " + option + " is given");
    if (const char* nodes = option_value("--ham-nodes", argc, argv, at)) {
      expect_harmless(nodes, "--ham-nodes=");
      options.nodes = nodes;
    } else if (const char* cores = option_value("--ham-cpu-affinity", argc, argv, at))
      options.cpu_affinity = cores;
    else if (const char* file = option_value("--ham-key", argc, argv, at))
      options.key = file;
    else if (const char* fresh = option_value("--ham-make-key", argc, argv, at)) {
      make_key_file(fresh);
      std::exit(0);
    } else if (const char* address = option_value("--ham-serve", argc, argv, at))
      options.serve = address;
    else if (const char* jobs = option_value("--ham-jobs", argc, argv, at))
      options.jobs = number_between(jobs, 1, 1000, "--ham-jobs=");
    else
      throw config_error("unknown option " + option + " (options that begin with --ham- are HAM's; see --ham-help)");
  }
  argc = kept;
  argv[kept] = nullptr;
  fill_from_environment(options);
}

void fill_from_environment(runtime_options& options) {
  const auto fill = [](std::string& value, const char* text) {
    if (value.empty() && text != nullptr) value = text;
  };
  if (options.nodes.empty()) {
    fill(options.nodes, std::getenv("HAM_NODES"));
    expect_harmless(options.nodes, "HAM_NODES=");
  }
  fill(options.cpu_affinity, std::getenv("HAM_CPU_AFFINITY"));
  fill(options.key, base::trusted_variable("HAM_KEY"));
  if (options.nodes.empty() && started_by_mpi()) options.nodes = "mpi";
  if (options.nodes.empty()) options.nodes = options.default_nodes.empty() ? "shm:1" : options.default_nodes;
  const std::string_view progress = variable("HAM_PROGRESS_THREAD");
  if (progress == "1") options.progress_thread = true;
  if (!progress.empty() && progress != "0" && progress != "1")
    throw config_error("HAM_PROGRESS_THREAD=" + std::string(progress) + " is neither 0 nor 1");
  // Read by the pool itself, later and on every node; the host says at once what is wrong with it.
  if (const std::string_view threads = variable("HAM_POOL_THREADS"); !threads.empty())
    static_cast<void>(number_between(threads, 1, 4096, "HAM_POOL_THREADS="));
  static_cast<void>(close_timeout_ns());  // read later, where nobody can be told of mistakes
}

tcp_security security_of() {
  const char* const text = base::trusted_variable("HAM_TCP_SECURITY");
  if (text == nullptr || std::strcmp(text, "on") == 0) return tcp_security::on;
  if (std::strcmp(text, "off") == 0) return tcp_security::off;
  if (std::strcmp(text, "force-off") == 0) return tcp_security::forced_off;
  throw config_error(std::string("HAM_TCP_SECURITY=") + text +
                     " is not understood; on is the default, off does without keys and encryption on loopback "
                     "addresses, force-off everywhere");
}

std::size_t message_limit() {
  const char* const text = std::getenv("HAM_MAX_MESSAGE");
  if (text == nullptr || *text == '\0') return transport::usual_message_limit;
  std::string_view digits = text;
  unsigned shift = 0;
  for (const auto& [unit, bits] : {std::pair{'K', 10U}, std::pair{'M', 20U}, std::pair{'G', 30U}}) {
    if (digits.back() == unit) shift = bits;
  }
  if (shift != 0) digits.remove_suffix(1);
  constexpr std::uint64_t least = std::uint64_t{2} << 20;  // a piece of put and get always fits
  constexpr std::uint64_t most = std::uint64_t{1} << 40;
  std::uint64_t number = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool good = error == std::errc{} && stop == digits.data() + digits.size() && number <= most >> shift &&
                    number << shift >= least;
  if (!good) {
    throw config_error(std::string("HAM_MAX_MESSAGE=") + text +
                       " is not understood; a number of bytes from 2M to 1024G is meant, K, M or G may follow it");
  }
  return static_cast<std::size_t>(number << shift);
}

std::chrono::milliseconds tcp_timeout() {
  const char* const text = std::getenv("HAM_TCP_TIMEOUT");
  if (text == nullptr || *text == '\0') return transport::network_options{}.timeout;
  const double seconds = base::parse_decimal(text).value_or(0);
  if (!(seconds >= 0.1 && seconds <= 3600)) {
    throw config_error(std::string("HAM_TCP_TIMEOUT=") + text + " is no number of seconds from 0.1 to 3600");
  }
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

std::optional<std::int64_t> close_timeout_ns() {
  const char* const text = std::getenv("HAM_CLOSE_TIMEOUT");
  if (text == nullptr || *text == '\0') return std::nullopt;
  const double seconds = base::parse_decimal(text).value_or(0);
  if (!(seconds >= 0.1 && seconds <= 1e6)) {
    throw config_error(std::string("HAM_CLOSE_TIMEOUT=") + text + " is no number of seconds from 0.1 to 1000000");
  }
  return static_cast<std::int64_t>(seconds * 1e9);
}

}  // namespace ham::detail
