// /proc/PID/stat.
#include "base/process_end.hpp"

#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "base/backoff.hpp"
#include "base/clock.hpp"

namespace ham::inline v1::base {
namespace {

std::optional<std::string> content_of(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// What the kernel knows of the end of a process, or of a thread.
struct ending {
  bool begun = false;
  bool over = false;
  pid_t parent = -1;
  int threads = 1;
  int status = 0;  ///< as of wait; 0 also if it is not known yet
};

/// From a file like /proc/PID/stat.
std::optional<ending> ending_in(const std::string& file) {
  constexpr std::size_t state_field = 0;  // behind the name in parentheses, which may have blanks in it
  constexpr std::size_t parent_field = 1;
  constexpr std::size_t flags_field = 6;
  constexpr std::size_t threads_field = 17;
  constexpr std::size_t exit_code_field = 49;
  constexpr unsigned long is_exiting = 4;
  const std::optional<std::string> text = content_of(file);
  if (!text || text->rfind(')') == std::string::npos) return std::nullopt;
  std::istringstream words(text->substr(text->rfind(')') + 1));
  std::vector<std::string> fields;
  for (std::string word; words >> word;) fields.push_back(std::move(word));
  if (fields.size() <= exit_code_field) return std::nullopt;
  ending result;
  result.parent = std::atoi(fields[parent_field].c_str());
  result.over = fields[state_field] == "Z" || fields[state_field] == "X";
  result.begun = result.over || (std::strtoul(fields[flags_field].c_str(), nullptr, 10) & is_exiting) != 0;
  result.threads = std::atoi(fields[threads_field].c_str());
  result.status = std::atoi(fields[exit_code_field].c_str());
  return result;
}

std::string folder_of(pid_t pid) { return "/proc/" + std::to_string(pid); }

std::optional<ending> look_at(pid_t pid) {
  const std::string folder = folder_of(pid);
  struct stat owner {};
  const bool readable = ::stat(folder.c_str(), &owner) == 0 && (::geteuid() == 0 || owner.st_uid == ::geteuid());
  return readable ? ending_in(folder + "/stat") : std::nullopt;
}

/// The first thread of a process may end long before the others do.
bool all_threads_end(pid_t pid) {
  std::error_code failure;
  std::filesystem::directory_iterator tasks(folder_of(pid) + "/task", failure);
  for (; !failure && tasks != std::filesystem::directory_iterator(); tasks.increment(failure)) {
    const std::optional<ending> one = ending_in(tasks->path().string() + "/stat");
    if (one && !one->begun) return false;
  }
  return !failure;
}

bool has_begun_to_end(pid_t pid) {
  if (::kill(pid, 0) != 0 && errno == ESRCH) return true;
  const std::optional<ending> first = ending_in(folder_of(pid) + "/stat");
  return first && first->begun && (first->threads <= 1 || all_threads_end(pid));
}

}  // namespace

std::string describe_end(int wait_status) {
  if (!WIFSIGNALED(wait_status)) return "exited with status " + std::to_string(WEXITSTATUS(wait_status));
  const int signal = WTERMSIG(wait_status);
  const char* const name = ::strsignal(signal);
  return "was killed by signal " + std::to_string(signal) + " (" + (name == nullptr ? "?" : name) + ")";
}

std::string end_of(pid_t pid, std::chrono::microseconds timeout) {
  const std::int64_t until = now_ns() + std::chrono::nanoseconds(timeout).count();
  for (;;) {
    const std::optional<ending> now = look_at(pid);
    if (!now) return {};
    if (now->status != 0 || now->over) return describe_end(now->status);
    // Status 0 is told by its end alone, which takes as long as its memory takes to be freed.
    if (now_ns() >= until) return now->begun ? describe_end(0) : std::string();
    sleep_ns(50'000);
  }
}

bool confirms_end(pid_t pid, std::chrono::microseconds timeout) {
  if (pid <= 0) return false;
  const std::int64_t until = now_ns() + std::chrono::nanoseconds(timeout).count();
  for (backoff<backoff_schedule{.yields = 10, .sleep_ns = 100'000, .max_sleep_ns = 5'000'000}> pause;; pause.wait()) {
    if (has_begun_to_end(pid)) return true;
    if (now_ns() >= until) return false;
  }
}

bool process_is_there(std::int64_t pid) {
  return pid > 0 && pid <= INT32_MAX && ::access(folder_of(static_cast<pid_t>(pid)).c_str(), F_OK) == 0;
}

pid_t parent_of(pid_t pid) {
  const std::optional<ending> now = ending_in(folder_of(pid) + "/stat");
  return now ? now->parent : -1;
}

}  // namespace ham::base
