// ham-ve: lists the VEO helpers of this user, ends those that have lost their host, attaches gdb to one.
// link: Threads::Threads
#include <ham/offload/detail/standard_descriptors.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <signal.h>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace files = std::filesystem;

struct helper {
  pid_t pid = -1;
  std::string node;
  pid_t host = -1;
  bool host_lives = false;
  char state = '?';
  double cpu_seconds = 0;
  std::string program;
};

std::optional<std::string> content_of(const files::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

/// The value of a variable in the environment that a process was started with.
std::optional<std::string> variable_of(const std::string& environment, std::string_view name) {
  std::istringstream in(environment);
  for (std::string one; std::getline(in, one, '\0');) {
    if (one.size() > name.size() && one.compare(0, name.size(), name) == 0 && one[name.size()] == '=') {
      return one.substr(name.size() + 1);
    }
  }
  return std::nullopt;
}

/// State, parent and processor time, from what follows the name in /proc/PID/stat.
bool read_stat(const std::string& text, helper& into, pid_t& parent) {
  const std::size_t end_of_name = text.rfind(')');
  if (end_of_name == std::string::npos) return false;
  std::istringstream rest(text.substr(end_of_name + 1));
  rest >> into.state >> parent;
  std::string skipped;
  for (int i = 0; i < 9; ++i) rest >> skipped;
  double user = 0;
  double system = 0;
  rest >> user >> system;
  into.cpu_seconds = (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  return static_cast<bool>(rest);
}

/// A helper has HAM_VEO_HOST in its environment and is not a child of another process that has.
std::optional<helper> look_at(const files::path& folder) {
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0 || status.st_uid != ::getuid()) return std::nullopt;
  const auto environment = content_of(folder / "environ");
  const auto stat_text = content_of(folder / "stat");
  if (!environment || !stat_text) return std::nullopt;
  const auto host = variable_of(*environment, "HAM_VEO_HOST");
  if (!host) return std::nullopt;
  helper found;
  pid_t parent = -1;
  if (!read_stat(*stat_text, found, parent)) return std::nullopt;
  const auto of_parent = content_of(files::path("/proc") / std::to_string(parent) / "environ");
  if (of_parent && variable_of(*of_parent, "HAM_VEO_HOST") == host) return std::nullopt;
  found.pid = static_cast<pid_t>(std::atol(folder.filename().c_str()));
  found.node = variable_of(*environment, "VE_NODE_NUMBER").value_or("?");
  found.host = static_cast<pid_t>(std::atol(host->c_str()));
  found.host_lives = ::kill(found.host, 0) == 0 || errno == EPERM;
  std::error_code ignored;
  found.program = files::read_symlink(folder / "exe", ignored).string();
  return found;
}

std::vector<helper> all_helpers() {
  std::vector<helper> all;
  std::error_code ignored;
  for (const auto& one : files::directory_iterator("/proc", ignored)) {
    if (one.path().filename().string().find_first_not_of("0123456789") != std::string::npos) continue;
    if (auto found = look_at(one.path())) all.push_back(*std::move(found));
  }
  return all;
}

void list() {
  std::printf("%4s %8s %8s %-7s %9s  %s\n", "node", "pid", "host", "state", "cpu s", "program");
  for (const helper& one : all_helpers()) {
    std::printf("%4s %8d %8d %-7s %9.2f  %s\n", one.node.c_str(), one.pid, one.host,
                !one.host_lives    ? "stray"
                : one.state == 'R' ? "running"
                : one.state == 'T' ? "stopped"
                : one.state == 'Z' ? "ended"
                                   : "waiting",
                one.cpu_seconds, one.program.c_str());
  }
}

int end_strays() {
  int failures = 0;
  for (const helper& one : all_helpers()) {
    if (one.host_lives) continue;
    const bool ended = ::kill(one.pid, SIGKILL) == 0;
    std::printf("%s helper %d of node %s, whose host %d has gone\n", ended ? "ended" : "cannot end", one.pid,
                one.node.c_str(), one.host);
    failures += ended ? 0 : 1;
  }
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int attach(const char* pid) {
  for (const helper& one : all_helpers()) {
    if (std::to_string(one.pid) != pid) continue;
    ::execlp("gdb", "gdb", "-p", pid, static_cast<char*>(nullptr));
    std::fprintf(stderr, "ham-ve: cannot start gdb (%s)\n", std::strerror(errno));
    return EXIT_FAILURE;
  }
  std::fprintf(stderr, "ham-ve: %s is no VEO helper of this user; ham-ve lists them\n", pid);
  return EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  ham::detail::occupy_standard_descriptors();
  const std::string_view what = argc > 1 ? argv[1] : "list";
  try {
    if (what == "list" && argc <= 2) {
      list();
      return EXIT_SUCCESS;
    }
    if (what == "end-strays" && argc == 2) return end_strays();
    if (what == "gdb" && argc == 3) return attach(argv[2]);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "ham-ve: %s\n", problem.what());
    return EXIT_FAILURE;
  }
  std::fprintf(stderr,
               "ham-ve [list]      VEO helpers of this user: node, pid, host, state, processor time\n"
               "ham-ve end-strays  ends helpers whose host has gone\n"
               "ham-ve gdb PID     attaches gdb to a helper\n");
  return what == "--help" || what == "-h" ? EXIT_SUCCESS : EXIT_FAILURE;
}
