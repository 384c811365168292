// The table of settings, their texts, and the environment.
#include "base/settings.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "base/fault_rules.hpp"
#include "base/immortal.hpp"
#include "base/log.hpp"
#include "base/numbers.hpp"
#include "base/privileges.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::base {
namespace {

using enum setting_kind;

// clang-format off
// In the order of `setting`, which the test holds it to; docs/configuration.md lists the same.
constexpr std::array<setting_info, 29> table{{
    {setting::nodes, "HAM_NODES", "nodes", "host", text, 0, 0, nullptr, "a list",
     "mpi under an MPI launcher, else shm:1", "the targets", false},
    {setting::cpu_affinity, "HAM_CPU_AFFINITY", "cpu_affinity", "host", text, 0, 0, nullptr, "auto, none or cores",
     "auto", "where host and targets run", false},
    {setting::main_node, "HAM_MAIN_NODE", "main_node", "host", number, 0, 4095, nullptr, nullptr,
     "0", "the node that runs main; another than 0: that target runs it, and the host serves", false},
    {setting::key, "HAM_KEY", "key", "host, serving program", text, 0, 0, nullptr, "a file, or fd:NUMBER",
     "none", "the key of tcp targets", true},
    {setting::tcp_security, "HAM_TCP_SECURITY", "tcp_security", "host, serving program", choice, 0, 0, "on|off|force-off", nullptr,
     "on", "off: neither keys nor encryption, on loopback addresses only; force-off: everywhere", true,
     "on is the default, off does without keys and encryption on loopback addresses, force-off everywhere"},
    {setting::tcp_records, "HAM_TCP_RECORDS", "tcp_records", "every node", choice, 0, 0, "ham|openssl", nullptr,
     "ham", "who encrypts and decrypts the records of TLS: ham, or openssl, which takes longer", false},
    {setting::module_path, "HAM_MODULE_PATH", "module_path", "host, serving program", text, 0, 0, nullptr, "absolute folders",
     "none", "where modules such as libham_tcp.so are looked for first", true},
    {setting::mpi_module, "HAM_MPI_MODULE", "mpi_module", "every rank", text, 0, 0, nullptr, "openmpi, mpich or a file",
     "the program's or the launcher's", "which MPI", true},
    {setting::mpi_pause, "HAM_MPI_PAUSE", "mpi_pause", "every rank", number, 1, 1'000'000, "spin", "microseconds",
     "2000", "longest pause between two polls of MPI while a node waits; spin: none", false},
    {setting::mpi_end_timeout, "HAM_MPI_END_TIMEOUT", "mpi_end_timeout", "every rank", number, 1, 1'000'000, "never", "seconds",
     "60", "after which the host aborts ranks that still execute something at its end; up to 10, a rank that has failed those that wait for it", false},
    {setting::mpi_map, "HAM_MPI_MAP", "mpi_map", "every rank", choice, 0, 0, "0|1", nullptr,
     "1", "0: memory of ranks on one machine is not mapped", false},
    {setting::progress_thread, "HAM_PROGRESS_THREAD", "progress_thread", "host", choice, 0, 0, "0|1", nullptr,
     "0", "1: a thread of the library executes arriving calls while the host computes", false},
    {setting::pool_threads, "HAM_POOL_THREADS", "pool_threads", "every node", number, 1, 4096, nullptr, nullptr,
     "one per core", "calls that the pool behind pooled executes at once", false},
    {setting::max_message, "HAM_MAX_MESSAGE", "max_message", "every node", bytes, 2, 1024.0 * 1024, nullptr, "bytes",
     "64M", "longest message that a node takes", false},
    {setting::tcp_timeout, "HAM_TCP_TIMEOUT", "tcp_timeout", "every node", seconds, 0.1, 3600, nullptr, "seconds",
     "3", "after which a peer that the network does not reach is lost", false},
    {setting::close_timeout, "HAM_CLOSE_TIMEOUT", "close_timeout", "every node", seconds, 0.1, 1'000'000, nullptr, "seconds",
     "10 without a sign of life", "after which destructors of handles give up a node that does not answer", false},
    {setting::start_timeout, "HAM_START_TIMEOUT", "start_timeout", "host", number, 0, 1'000'000, nullptr, "seconds",
     "60", "that a started process may take to join, and to greet its host; 0: no limit", false},
    {setting::cuda_linger, "HAM_CUDA_LINGER", "cuda_linger", "host", number, 0, 3'600'000'000, nullptr, "microseconds",
     "5000", "that the resident kernel of a GPU stays without a call", false},
    {setting::unobserved_errors, "HAM_UNOBSERVED_ERRORS", "unobserved_errors", "every node", choice, 0, 0, "report|ignore", nullptr,
     "report", "whether errors of futures that nobody has read are lines on stderr", false},
    {setting::log, "HAM_LOG", "log", "every node", levels, 0, 0, nullptr, "levels",
     "warning", "what the library tells on stderr: off, error, warning, info or debug, of all or of some parts (info,tcp=debug)", false},
    {setting::recorder, "HAM_RECORDER", "recorder", "every node", choice, 0, 0, "on|off", nullptr,
     "on", "whether nodes record what they call and execute, for errors and ham-trace", false},
    {setting::trace, "HAM_TRACE", "trace", "host", text, 0, 0, nullptr, "a file",
     "none", "where the host writes a trace of the calls of all nodes, for ui.perfetto.dev and ham-trace", true},
    {setting::metrics, "HAM_METRICS", "metrics", "host", number, 1, 65535, nullptr, nullptr,
     "none", "the port of 127.0.0.1 on which the host serves the counters of its nodes to Prometheus", true},
    {setting::output, "HAM_OUTPUT", "output", "host", text, 0, 0, nullptr, "a folder",
     "none", "where NODE.out and NODE.err get what targets print that were started here, in place of the terminal", true},
    {setting::veo_library, "HAM_VEO_LIBRARY", "veo_library", "host", text, 0, 0, nullptr, "a library",
     "libveo.so.1", "the VEO library of veo and vedma targets", true},
    {setting::veo_application, "HAM_VEO_APPLICATION", "veo_application", "host", text, 0, 0, nullptr, "a library",
     "the program's name with .ve.so behind it", "the application for Vector Engines", true},
    {setting::fault, "HAM_FAULT", "fault", "every node", faults, 0, 0, nullptr, "rules",
     "none", "calls and connections that fail on purpose, for tests: FUNCTION:request|reply[=ACTION]:PROBABILITY[:SEED]", true},
    {setting::mpi_rank_pid, "HAM_MPI_RANK_PID", nullptr, "what a rank starts", text, 0, 0, nullptr, "set by ranks",
     "none", "the rank that a process was started by", false},
    {setting::target, "HAM_TARGET", nullptr, "targets", text, 0, 0, nullptr, "set by the host",
     "none", "the host that a started process belongs to", true},
}};
// clang-format on

/// Without zeros behind the point.
std::string plain(double number) {
  if (number == std::floor(number)) return std::to_string(static_cast<std::int64_t>(number));
  std::string text = std::to_string(number);
  return text.erase(text.find_last_not_of('0') + 1);
}

std::string size_text(double mebibytes) {
  return mebibytes < 1024 ? plain(mebibytes) + "M" : plain(mebibytes / 1024) + "G";
}

std::optional<std::int64_t> place_of(std::string_view word, std::string_view words) {
  for (std::int64_t place = 0;; ++place) {
    const std::size_t end = words.find('|');
    if (word == words.substr(0, end)) return place;
    if (end == std::string_view::npos) return std::nullopt;
    words.remove_prefix(end + 1);
  }
}

std::optional<std::int64_t> bytes_in(std::string_view text, const setting_info& which) {
  unsigned shift = 0;
  for (const auto& [unit, bits] : {std::pair{'K', 10U}, std::pair{'M', 20U}, std::pair{'G', 30U}}) {
    if (!text.empty() && text.back() == unit) shift = bits;
  }
  if (shift != 0) text.remove_suffix(1);
  const auto most = static_cast<std::int64_t>(which.most) << 20U;
  const auto count = parse_integer(text, 0, most >> shift);
  if (!count || *count << shift < static_cast<std::int64_t>(which.least) << 20U) return std::nullopt;
  return *count << shift;
}

std::optional<std::int64_t> nanoseconds_in(std::string_view text, const setting_info& which) {
  const auto count = parse_decimal(text);
  if (!count || !(*count >= which.least && *count <= which.most)) return std::nullopt;
  return static_cast<std::int64_t>(std::llround(*count * 1e9));
}

std::optional<std::int64_t> parse(std::string_view text, const setting_info& which) {
  switch (which.kind) {
    case setting_kind::text: return 0;
    case choice: return place_of(text, which.words);
    case number:
      if (which.words != nullptr && text == which.words) return 0;
      return parse_integer(text, static_cast<std::int64_t>(which.least), static_cast<std::int64_t>(which.most));
    case seconds: return nanoseconds_in(text, which);
    case bytes: return bytes_in(text, which);
    case faults:
    case levels: return 0;  // see parse_setting
  }
  return std::nullopt;
}

bool is_in_seconds(const setting_info& which) {
  return which.unit != nullptr && std::string_view(which.unit) == "seconds";
}

std::string range_of(const setting_info& which) {
  return plain(which.least) + (which.least == 0 && is_in_seconds(which) ? " (no limit)" : "") + " to " +
         plain(which.most);
}

/// What follows the value in an error.
std::string refusal(const setting_info& which) {
  switch (which.kind) {
    case choice: {
      if (which.why != nullptr) return std::string("is not understood; ") + which.why;
      std::string words = which.words;
      return "is neither " + words.replace(words.find('|'), 1, " nor ");
    }
    case bytes:
      return "is not understood; a number of bytes from " + size_text(which.least) + " to " + size_text(which.most) +
             " is meant, K, M or G may follow it";
    default: break;
  }
  if (which.words != nullptr) return std::string("is neither ") + which.words + " nor a number from " + range_of(which);
  return std::string("is no number ") + (is_in_seconds(which) ? "of seconds " : "") + "from " + range_of(which);
}

/// What the program has said. Threads of the library may outlive the destructors.
struct program_store {
  std::mutex mutex;
  std::vector<program_setting> said;
};
program_store& store() { return immortal<program_store>(); }

std::optional<program_setting> said_by_program(setting which) {
  const std::lock_guard guard(store().mutex);
  for (const program_setting& one : store().said) {
    if (one.which == which) return one;
  }
  return std::nullopt;
}

/// Text and source; empty text: not set.
program_setting find(const setting_info& which) {
  if (auto said = said_by_program(which.id)) return std::move(*said);
  const char* const text = std::getenv(which.variable);
  if (text == nullptr || *text == '\0') return {which.id, {}, which.variable};
  if (which.trusted) refuse_if_privileged(std::string(which.variable) + " is set");
  return {which.id, text, which.variable};
}

}  // namespace

std::span<const setting_info> all_settings() noexcept { return table; }

const setting_info& info_of(setting which) noexcept { return table[static_cast<std::size_t>(which)]; }

std::string option_of(const setting_info& which) {
  if (which.field == nullptr) return {};
  std::string option = std::string("--ham-") + which.field;
  std::replace(option.begin(), option.end(), '_', '-');
  return option;
}

std::string values_of(const setting_info& which) {
  switch (which.kind) {
    case setting_kind::text:
    case faults:
    case levels: return which.unit;
    case choice: {
      std::string words = which.words;
      for (std::size_t at = 0; (at = words.find('|', at)) != std::string::npos;) words.replace(at, 1, ", ");
      return words;
    }
    case bytes: return size_text(which.least) + " to " + size_text(which.most) + " bytes";
    default: break;
  }
  const std::string unit = which.unit == nullptr ? "" : std::string(" ") + which.unit;
  return plain(which.least) + " to " + plain(which.most) + unit +
         (which.words == nullptr ? "" : std::string(", or ") + which.words);
}

std::string settings_help() {
  std::string list;
  for (const setting_info& one : table) {
    if (one.field == nullptr) continue;
    list += "  " + option_of(one) + ", " + one.variable + " (" + one.read_by + "): " + values_of(one) + "; default " +
            one.usual + "\n      " + one.meaning + "\n";
  }
  return list;
}

std::int64_t parse_setting(setting which, std::string_view text, const std::string& source) {
  if (info_of(which).kind == faults) static_cast<void>(parse_faults(text, source));
  if (info_of(which).kind == levels) static_cast<void>(parse_log_levels(text, source));
  if (const auto value = parse(text, info_of(which))) return *value;
  throw config_error(source + "=" + std::string(text) + " " + refusal(info_of(which)));
}

void use_program_settings(std::vector<program_setting> said) {
  {
    const std::lock_guard guard(store().mutex);
    store().said = std::move(said);
  }
  renew_log_levels();
}

std::vector<program_setting> program_settings() {
  const std::lock_guard guard(store().mutex);
  return store().said;
}

std::string text_of(setting which) { return find(info_of(which)).text; }

std::optional<std::int64_t> number_of(setting which) {
  const program_setting found = find(info_of(which));
  if (found.text.empty()) return std::nullopt;
  return parse_setting(which, found.text, found.source);
}

bool in_environment(setting which) noexcept { return std::getenv(info_of(which).variable) != nullptr; }

void expect_sound_settings() {
  for (const setting_info& one : table) {
    if (!one.trusted && one.kind != setting_kind::text) static_cast<void>(number_of(one.id));
  }
}

const char* foreign_variable(const char* name) noexcept { return std::getenv(name); }

const char* foreign_variable_unless_privileged(const char* name) noexcept {
  return privileged() ? nullptr : std::getenv(name);
}

}  // namespace ham::base
