// The settings of the library: one table, and the only place of the library that reads the environment.
//
// A setting has a value from, in this order: the program (runtime_options, into which options of the command line go),
// the environment, the default.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ham::inline v1::base {

enum class setting : std::uint8_t {
  nodes,
  cpu_affinity,
  main_node,
  key,
  tcp_security,
  tcp_records,
  module_path,
  mpi_module,
  mpi_pause,
  mpi_end_timeout,
  mpi_map,
  progress_thread,
  pool_threads,
  max_message,
  tcp_timeout,
  close_timeout,
  start_timeout,
  cuda_linger,
  unobserved_errors,
  log,
  recorder,
  trace,
  metrics,
  output,
  veo_library,
  veo_application,
  fault,
  mpi_rank_pid,
  target
};

/// What a text can be, and what number it stands for.
enum class setting_kind : std::uint8_t {
  text,     ///< anything; 0
  choice,   ///< one of some words; its place among them
  number,   ///< a whole number
  seconds,  ///< a decimal number of seconds; nanoseconds
  bytes,    ///< a whole number, K, M or G may follow; bytes
  faults,   ///< rules (fault_rules.hpp); 0
  levels    ///< of lines (log.hpp); 0
};

/// A line of the table.
struct setting_info {
  setting id;
  const char* variable;  ///< of the environment: "HAM_TCP_TIMEOUT"
  const char* field;     ///< of runtime_options, nullptr: none. With dashes and --ham- in front it is the option, too
  const char* read_by;
  setting_kind kind;
  double least, most;         ///< of numbers; of bytes in MiB
  const char* words;          ///< choices, separated by '|'; of a number: a word that stands for 0
  const char* unit;           ///< of a number, for people; or what a text is
  const char* usual;          ///< the default, for people
  const char* meaning;        ///< for people
  bool trusted;               ///< names code, programs, keys or machines, or breaks things: no business of a privileged
                              ///< program's caller
  const char* why = nullptr;  ///< what an error says instead of the list of choices
};

[[nodiscard]] std::span<const setting_info> all_settings() noexcept;
[[nodiscard]] const setting_info& info_of(setting which) noexcept;
/// "--ham-tcp-timeout"; empty: it has none.
[[nodiscard]] std::string option_of(const setting_info& which);
/// What it can be: "0.1 to 3600 seconds".
[[nodiscard]] std::string values_of(const setting_info& which);
/// The list for --ham-help.
[[nodiscard]] std::string settings_help();

/// The number that a text stands for, see setting_kind. `source` is where the text is from, for the error: "HAM_KEY".
/// Throws ham::config_error.
std::int64_t parse_setting(setting which, std::string_view text, const std::string& source);

/// What the program says, in place of the environment.
struct program_setting {
  setting which;
  std::string text;    ///< not empty
  std::string source;  ///< for errors
};
/// From now on, in this process: of the runtime that was started last. Processes that are started get it in their
/// environment. Any thread.
void use_program_settings(std::vector<program_setting> said);
[[nodiscard]] std::vector<program_setting> program_settings();

/// The text of a setting; empty: not set. Throws ham::config_error if the environment sets what a privileged program
/// takes from nobody. Any thread.
[[nodiscard]] std::string text_of(setting which);
/// The number that it stands for, nullopt: not set. Throws ham::config_error.
[[nodiscard]] std::optional<std::int64_t> number_of(setting which);
/// Whether the environment has it, be it empty.
[[nodiscard]] bool in_environment(setting which) noexcept;
/// Throws ham::config_error if one that anybody may set cannot be used. Those that privileged programs refuse are
/// looked at where they are used.
void expect_sound_settings();

/// Variables that are not ours: PATH, what launchers say. nullptr: not set.
[[nodiscard]] const char* foreign_variable(const char* name) noexcept;
/// nullptr in a privileged program as well.
[[nodiscard]] const char* foreign_variable_unless_privileged(const char* name) noexcept;

}  // namespace ham::base
