#include "soak/plants.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <string_view>
#include <thread>
#include <vector>

namespace soak {
namespace {

constexpr const char* names[] = {"",
                                 "wrong-result",
                                 "wrong-checksum",
                                 "changed-bytes",
                                 "lost-exception",
                                 "lost-call",
                                 "double-run",
                                 "late-run",
                                 "unannounced-kill",
                                 "unkilled",
                                 "unannounced-death",
                                 "no-restart",
                                 "unprepared",
                                 "usable-handle",
                                 "lost-line",
                                 "no-stop",
                                 "hang",
                                 "hanging-replacement",
                                 "growth",
                                 "left-behind",
                                 "early-end",
                                 "crash",
                                 "lost-event",
                                 "no-heartbeat",
                                 "kept-stop",
                                 "uncounted"};
static_assert(std::size(names) == static_cast<std::size_t>(plant::uncounted) + 1);

std::string_view name_of_plant() {
  const char* const name = std::getenv("HAM_SOAK_PLANT");
  return name == nullptr ? "" : name;
}

plant read_plant() {
  const auto* const found = std::find(std::begin(names), std::end(names), name_of_plant());
  return found == std::end(names) ? plant::none : static_cast<plant>(found - std::begin(names));
}

std::vector<std::string>& kept() {
  static std::vector<std::string> all;
  return all;
}

}  // namespace

bool planted(plant fault) noexcept {
  static const plant one = read_plant();
  return one == fault;
}

std::string problem_with_plant() {
  if (std::find(std::begin(names), std::end(names), name_of_plant()) != std::end(names)) return "";
  std::string text = "there is no fault \"" + std::string(name_of_plant()) + "\" to plant; there are:";
  for (const char* const one : names) text += (*one == 0 ? "" : " ") + std::string(one);
  return text;
}

void keep_on_purpose() {
  constexpr int count = 12;  // more than what comes and goes
  for (int i = 0; i < count; ++i) {
    static_cast<void>(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    // Neighbours with other rights are maps of their own.
    static_cast<void>(::mmap(nullptr, 4096, i % 2 == 0 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  }
  for (int i = 0; i < 3; ++i) std::thread([] { std::this_thread::sleep_for(std::chrono::hours(1)); }).detach();
  kept().emplace_back(std::size_t{16} << 20U, '\1');
}

void leave_behind() {
  posix_spawn_file_actions_t quiet;  // the script reads until nobody has its pipe any more
  ::posix_spawn_file_actions_init(&quiet);
  ::posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  std::string program = "/bin/sleep";
  std::string time = "120";
  char* const command[] = {program.data(), time.data(), nullptr};
  pid_t pid = 0;
  ::posix_spawn(&pid, command[0], &quiet, nullptr, command, environ);
  ::posix_spawn_file_actions_destroy(&quiet);
  const int name = ::shm_open(("/ham-soak-planted-" + std::to_string(::getpid())).c_str(), O_CREAT | O_RDWR, 0600);
  if (name >= 0) ::close(name);
}

}  // namespace soak
