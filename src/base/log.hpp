// What the library tells people: lines on stderr, each of a part of the library and of a level.
//
// Without HAM_LOG there are warnings and errors only, as plain lines. With it (HAM_LOG=info,tcp=debug) each line says
// when, where and how grave, too. A line is one write(), so that those of several threads and processes do not mix.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ham::inline v1::base {

enum class log_level : std::uint8_t { off, error, warning, info, debug };
/// What is told of each part of the library.
struct log_levels {
  log_level usual = log_level::warning;
  std::vector<std::pair<std::string, log_level>> of_parts;
  bool detailed = false;  ///< lines say when, where and how grave

  [[nodiscard]] log_level of(std::string_view part) const noexcept;
};

/// "debug", "info,tcp=debug"; empty: the default. Later words count. A part is a word: modules that are loaded later
/// have theirs. Throws ham::config_error; `source` is where the text is from.
[[nodiscard]] log_levels parse_log_levels(std::string_view text, const std::string& source);

/// Reads the setting again, at the next line. Any thread.
void renew_log_levels() noexcept;

/// Whose lines they are: the number of the calling thread's node, negative: none. For processes of several nodes.
void use_log_node(int (*of_this_thread)() noexcept) noexcept;

/// Whether a line of that level would be written. Any thread; one load where no part tells so much.
[[nodiscard]] bool logs(std::string_view part, log_level level) noexcept;

/// One line, without its end; one of more than 4 KiB becomes several. Any thread; not in signal handlers. Drops what
/// has no memory.
[[gnu::format(printf, 3, 4)]] void log(const char* part, log_level level, const char* format, ...) noexcept;

}  // namespace ham::base
