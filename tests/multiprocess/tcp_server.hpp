// A process that waits for hosts, and its key file: what the tests of jobs over tcp share.
#pragma once

#include <optional>
#include <utility>

#include "support.hpp"

namespace ham::inline v1::test {

/// Exit status of a program that refuses to wait for hosts.
constexpr int refuses_to_serve = 3;

/// The scenario of a program that waits: TEST_SERVE, TEST_KEY and TEST_JOBS say how.
inline int serve() {
  runtime_options options;
  options.serve = std::getenv("TEST_SERVE");
  if (const char* key = std::getenv("TEST_KEY")) options.key = key;
  if (const char* jobs = std::getenv("TEST_JOBS")) options.jobs = static_cast<std::size_t>(std::atoi(jobs));
  try {
    const runtime never(options);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "refused: %s\n", problem.what());
  }
  return refuses_to_serve;
}
inline const scenario serving("serve", serve);

class scratch_key {
 public:
  explicit scratch_key(char digit) {
    char name[] = "/tmp/ham-key-XXXXXX";
    const int fd = ::mkstemp(name);  // 0600
    std::string text(64, digit);
    text.push_back('\n');
    if (::write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size())) throw error("no key file");
    ::close(fd);
    path_ = name;
  }
  ~scratch_key() { ::unlink(path_.c_str()); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// A process does not come to wait for hosts. Says what it has said, and how it ends by itself.
struct no_server : error {
  no_server(const std::string& said, pid_t process) : error("the server says: " + said) {
    siginfo_t end{};
    const auto ended = [&] {
      return ::waitid(P_PID, static_cast<id_t>(process), &end, WEXITED | WNOHANG | WNOWAIT) == 0 && end.si_pid != 0;
    };
    if (eventually(ended) && end.si_code == CLD_EXITED) status = end.si_status;
  }
  int status = -1;  ///< exit status; -1: killed, or it goes on
};

/// A process that waits for hosts at an address of its own choice.
class server {
 public:
  explicit server(const std::string& key, int jobs = 1, const std::string& at = "127.0.0.1:0",
                  const std::vector<std::string>& more = {})
      : environment_{"TEST_SERVE=" + at, "TEST_JOBS=" + std::to_string(jobs)} {
    if (key.empty())
      environment_.push_back("HAM_TCP_SECURITY=off");
    else
      environment_.push_back("TEST_KEY=" + key);
    environment_.insert(environment_.end(), more.begin(), more.end());
    process_.emplace("serve", environment_);
    const std::string line = process_->line();
    const std::size_t at_text = line.find(" at ");
    if (at_text == std::string::npos) throw no_server(line, process_->pid());
    address_ = line.substr(at_text + 4);
  }
  [[nodiscard]] std::string nodes() const { return "tcp://" + address_; }
  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] pid_t pid() const { return process_->pid(); }
  [[nodiscard]] host_process& process() { return *process_; }

 private:
  std::vector<std::string> environment_;
  std::optional<host_process> process_;
  std::string address_;
};

/// Its child that takes the next host; -1: there is none now.
[[nodiscard]] inline pid_t child_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid) + "/children");
  pid_t child = -1;
  file >> child;
  return child;
}
/// Throws if the process has gone.
[[nodiscard]] inline std::size_t descriptors_of(pid_t pid) {
  const std::filesystem::directory_iterator all("/proc/" + std::to_string(pid) + "/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

[[nodiscard]] inline runtime_options with_key(const std::string& nodes, const std::string& key) {
  runtime_options options;
  options.nodes = nodes;
  options.key = key;
  return options;
}

}  // namespace ham::test
