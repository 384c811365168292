// Levels, and how a line is made.
#include "base/log.hpp"

#include <limits.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <mutex>
#include <utility>

#include "base/file_bytes.hpp"
#include "base/immortal.hpp"
#include "base/settings.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::base {

namespace {

constexpr std::array<std::string_view, 5> level_names{"off", "error", "warning", "info", "debug"};
constexpr int unknown = 0xff;

/// The most that any part tells; `unknown` until the setting is read.
constinit std::atomic<int> most{unknown};
constinit std::atomic<int (*)() noexcept> node_of_this_thread{nullptr};

/// Threads of the library may tell something while the process ends.
struct level_store {
  std::mutex mutex;
  log_levels levels;
};
level_store& store() noexcept { return base::immortal<level_store>(); }

[[noreturn]] void refuse(std::string_view word, std::string_view text, const std::string& source) {
  throw config_error(source + "=" + std::string(text) + " has \"" + std::string(word) +
                     "\"; a level (off, error, warning, info, debug) is meant, or PART=LEVEL, such as tcp=debug");
}

log_level level_in(std::string_view word, std::string_view text, const std::string& source) {
  const auto found = std::find(level_names.begin(), level_names.end(), word);
  if (found == level_names.end()) refuse(word, text, source);
  return static_cast<log_level>(found - level_names.begin());
}

bool is_part(std::string_view word) noexcept {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char one) { return one >= 'a' && one <= 'z'; });
}

/// Pipes take up to PIPE_BUF bytes in one piece: what is longer becomes several lines, each with the head.
void write_lines(std::string_view head, std::string_view message) {
  do {
    const std::string_view part = message.substr(0, PIPE_BUF - head.size() - 1);
    std::string line(head);
    line += part;
    line += '\n';
    write_bytes(STDERR_FILENO, line);
    message.remove_prefix(part.size());
  } while (!message.empty());
}

/// "12:34:56.789012 node 1 pid 4711 thread 4713 warning tcp: "
std::string details(const char* part, log_level level) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  tm local{};
  ::localtime_r(&now.tv_sec, &local);
  int (*const node_of)() noexcept = node_of_this_thread.load(std::memory_order_acquire);
  const int node = node_of == nullptr ? -1 : node_of();
  char text[128];
  const int size =
      std::snprintf(text, sizeof(text), "%02d:%02d:%02d.%06ld %s%s pid %d thread %d %s %s: ", local.tm_hour,
                    local.tm_min, local.tm_sec, now.tv_nsec / 1000, node < 0 ? "no node" : "node ",
                    node < 0 ? "" : std::to_string(node).c_str(), static_cast<int>(::getpid()),
                    static_cast<int>(::gettid()), level_names[static_cast<std::size_t>(level)].data(), part);
  return {text, std::min(sizeof(text) - 1, static_cast<std::size_t>(std::max(size, 0)))};
}

/// What cannot be used is told by the start of a runtime.
void learn_levels() noexcept {
  log_levels levels;
  try {
    levels = parse_log_levels(text_of(setting::log), "HAM_LOG");
  } catch (const std::exception&) {
  }
  log_level least = levels.usual;
  for (const auto& [part, level] : levels.of_parts) least = std::max(least, level);
  const std::lock_guard guard(store().mutex);
  store().levels = std::move(levels);
  most.store(static_cast<int>(least), std::memory_order_release);
}

bool lines_are_detailed() noexcept {
  const std::lock_guard guard(store().mutex);
  return store().levels.detailed;
}

}  // namespace

log_level log_levels::of(std::string_view part) const noexcept {
  for (auto one = of_parts.rbegin(); one != of_parts.rend(); ++one) {
    if (one->first == part) return one->second;
  }
  return usual;
}

log_levels parse_log_levels(std::string_view text, const std::string& source) {
  log_levels levels;
  levels.detailed = !text.empty();
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    const std::size_t sign = word.find('=');
    if (sign == std::string_view::npos) {
      levels.usual = level_in(word, text, source);
      levels.of_parts.clear();
      continue;
    }
    if (!is_part(word.substr(0, sign))) refuse(word, text, source);
    levels.of_parts.emplace_back(word.substr(0, sign), level_in(word.substr(sign + 1), text, source));
  }
  return levels;
}

void renew_log_levels() noexcept { most.store(unknown, std::memory_order_release); }

void use_log_node(int (*of_this_thread)() noexcept) noexcept {
  node_of_this_thread.store(of_this_thread, std::memory_order_release);
}

bool logs(std::string_view part, log_level level) noexcept {
  if (most.load(std::memory_order_acquire) == unknown) learn_levels();
  if (static_cast<int>(level) > most.load(std::memory_order_acquire)) return false;
  const std::lock_guard guard(store().mutex);
  return level <= store().levels.of(part);
}

void log(const char* part, log_level level, const char* format, ...) noexcept {
  if (!logs(part, level)) return;
  std::va_list arguments;
  va_start(arguments, format);
  std::va_list again;
  va_copy(again, arguments);
  try {
    const int size = std::vsnprintf(nullptr, 0, format, arguments);
    std::string message(static_cast<std::size_t>(std::max(size, 0)), ' ');
    std::vsnprintf(message.data(), message.size() + 1, format, again);
    std::replace(message.begin(), message.end(), '\n', ' ');
    write_lines(lines_are_detailed() ? "ham " + details(part, level) : "ham: ", message);
  } catch (const std::exception&) {  // no memory
  }
  va_end(again);
  va_end(arguments);
}

}  // namespace ham::base
