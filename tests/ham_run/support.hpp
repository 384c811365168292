// What the tests of ham-run share: runs of it, and a look at the processes that are left.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sanitizer_notes.hpp"

namespace ham::inline v1::run::test {

using namespace std::chrono_literals;

inline const std::string fakes = HAM_FAKES;
inline const std::string fake_ssh = fakes + "/fake_ssh.sh";
inline const std::string application = HAM_APPLICATION;

/// Waits until `done` or for very long; says which.
template <class Done>
[[nodiscard]] bool eventually(Done done, std::chrono::milliseconds timeout = 30s) {
  const auto until = std::chrono::steady_clock::now() + timeout;
  while (!done()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(2ms);
  }
  return true;
}

/// ham-run as a process, with both outputs caught.
class running {
 public:
  explicit running(const std::vector<std::string>& arguments, const std::vector<std::string>& environment = {}) {
    int out[2];
    int err[2];
    if (::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(err, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(out[1], STDOUT_FILENO);
      ::dup2(err[1], STDERR_FILENO);
      for (const char* const one : {"HAM_NODES", "HAM_KEY", "SLURM_JOB_ID", "SLURM_JOB_NODELIST", "HAM_TCP_SECURITY"}) {
        ::unsetenv(one);
      }
      for (const std::string& one : environment) ::putenv(const_cast<char*>(one.c_str()));
      std::vector<char*> command{const_cast<char*>(HAM_RUN)};
      for (const std::string& one : arguments) command.push_back(const_cast<char*>(one.c_str()));
      command.push_back(nullptr);
      ::execv(command[0], command.data());
      ::_exit(126);
    }
    ::close(out[1]);
    ::close(err[1]);
    out_ = out[0];
    err_ = err[0];
  }
  running(const running&) = delete;
  running& operator=(const running&) = delete;
  ~running() {
    if (!ended_) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    ::close(out_);
    ::close(err_);
  }

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] const std::string& out() const { return out_text_; }
  [[nodiscard]] const std::string& err() const { return err_text_; }

  /// The first line of its output that begins with `start`; empty if there is none before its end.
  std::string line(const std::string& start) {
    for (;;) {
      std::istringstream lines(out_text_);
      for (std::string one; std::getline(lines, one) && !lines.eof();) {
        if (one.starts_with(start)) return one;
      }
      if (!read_some()) return "";
    }
  }

  /// Its exit code, or 1000 + signal, after all output.
  int wait() {
    while (read_some()) {
    }
    int status = 0;
    ::waitpid(pid_, &status, 0);
    ended_ = true;
    return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
  }

 private:
  bool read_some() {
    pollfd both[2] = {{out_open_ ? out_ : -1, POLLIN, 0}, {err_open_ ? err_ : -1, POLLIN, 0}};
    if ((!out_open_ && !err_open_) || ::poll(both, 2, 90'000) <= 0) return false;
    if (both[0].revents != 0) out_open_ = take(out_, out_text_);
    if (both[1].revents != 0) err_open_ = take(err_, err_text_);
    return true;
  }
  static bool take(int from, std::string& into) {
    char room[1 << 14];
    const ssize_t got = ::read(from, room, sizeof room);
    if (got > 0) into.append(room, static_cast<std::size_t>(got));
    return got > 0;
  }

  pid_t pid_ = -1;
  int out_ = -1;
  int err_ = -1;
  bool out_open_ = true;
  bool err_open_ = true;
  bool ended_ = false;
  std::string out_text_;
  std::string err_text_;
};

struct result {
  int code = 0;
  std::string out;
  std::string err;
};

inline result run(const std::vector<std::string>& arguments, const std::vector<std::string>& environment = {}) {
  running one(arguments, environment);
  const int code = one.wait();
  return {code, one.out(), ham::test::without_sanitizer_notes(one.err())};
}

/// `start` and `more` as one list of words.
inline std::vector<std::string> operator+(std::vector<std::string> start, const std::vector<std::string>& more) {
  start.insert(start.end(), more.begin(), more.end());
  return start;
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

inline std::size_t count_lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

inline std::vector<pid_t> numbers_in(const std::string& line) {
  std::vector<pid_t> result;
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    if (std::isdigit(static_cast<unsigned char>(word[0])) != 0) result.push_back(std::stoi(word));
  }
  return result;
}

/// True while a process runs; a zombie does not.
inline bool runs(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  if (!std::getline(file, text)) return false;
  const std::size_t at = text.rfind(')');
  return at + 2 < text.size() && text[at + 2] != 'Z' && text[at + 2] != 'X';
}

inline bool any_runs(const std::vector<pid_t>& pids) { return std::any_of(pids.begin(), pids.end(), runs); }

/// A folder of its own, removed at the end.
class temporary_folder {
 public:
  temporary_folder() {
    std::string name = "/tmp/ham-run-test.XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder() { std::filesystem::remove_all(path_); }
  [[nodiscard]] std::string path() const { return path_; }
  [[nodiscard]] bool empty() const { return std::filesystem::is_empty(path_); }

 private:
  std::string path_;
};

}  // namespace ham::run::test
