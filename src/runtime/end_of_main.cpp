// Thread-specific data of the main thread, and a look at the threads that are left.
#include "runtime/end_of_main.hpp"

#include <pthread.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>
#include <thread>

#include "base/clock.hpp"
#include "base/thread.hpp"

namespace ham::inline v1::detail {
namespace {

namespace files = std::filesystem;

constexpr std::int64_t poll_interval_ns = 20'000'000;

/// Name and state of a thread of this process.
std::string name_of(const files::path& task) {
  std::string name;
  std::ifstream(task / "comm") >> name;
  return name;
}
char state_of(const files::path& task) {
  std::string text;
  std::getline(std::ifstream(task / "stat"), text);
  const std::size_t name_end = text.rfind(')');
  return name_end + 2 < text.size() ? text[name_end + 2] : 'X';
}

/// Whether main has ended and only the library's threads are left.
bool all_ended() {
  const std::string main = std::to_string(::getpid());
  std::error_code problem;
  for (const auto& task : files::directory_iterator("/proc/self/task", problem)) {
    if (task.path().filename() == main) {
      if (state_of(task.path()) != 'Z') return false;
    } else if (name_of(task.path()) != base::library_thread_name && files::exists(task.path(), problem)) {
      return false;
    }
  }
  return !problem;
}

/// Not as one of the library's own: it ends the runtime.
void end_with_the_others() {
  const base::signals_blocked guard;
  std::thread([] {
    ::prctl(PR_SET_NAME, base::library_thread_name);
    do base::sleep_ns(poll_interval_ns);
    while (!all_ended());
    std::exit(EXIT_SUCCESS);
  }).detach();
}

void at_end_of_main(void*) {
  try {
    end_with_the_others();
  } catch (const std::exception&) {
    return;  // no thread to be had: the process stays until it is ended
  }
}

}  // namespace

void exit_with_last_thread() {
  if (::gettid() != ::getpid()) return;
  // The C library destroys thread-specific data when main ends by pthread_exit, and neither at exit() nor the objects
  // that are thread_local.
  static const auto key = [] {
    pthread_key_t made{};
    return ::pthread_key_create(&made, &at_end_of_main) == 0 ? std::optional(made) : std::nullopt;
  }();
  if (key) ::pthread_setspecific(*key, &key);
}

}  // namespace ham::detail
