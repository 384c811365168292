// Programs by posix_spawn, their output through a pipe.
#include "captured_run.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>

namespace ham::inline v1::info {

namespace {

pid_t start(const std::vector<std::string>& command, int output_fd) {
  std::vector<std::string> copies = command;
  std::vector<char*> argv;
  argv.reserve(copies.size() + 1);
  for (std::string& argument : copies) argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output_fd, STDOUT_FILENO);
  pid_t pid = -1;
  const int failure = posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) throw std::runtime_error("cannot run " + command.front() + " (" + std::strerror(failure) + ")");
  return pid;
}

// False when the time was over before the other end of the pipe was closed.
bool read_all(int fd, int timeout_ms, std::string& into) {
  using clock = std::chrono::steady_clock;
  const auto end = clock::now() + std::chrono::milliseconds(timeout_ms);
  char buffer[4096];
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - clock::now()).count();
    pollfd one{fd, POLLIN, 0};
    const int ready = left > 0 ? poll(&one, 1, static_cast<int>(left)) : 0;
    if (ready == 0) return false;
    const ssize_t got = ready < 0 ? -1 : read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    into.append(buffer, static_cast<std::size_t>(got));
  }
}

}  // namespace

captured_run run_and_capture(const std::vector<std::string>& command, int timeout_ms) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw std::runtime_error(std::string("cannot make a pipe (") + std::strerror(errno) + ")");
  captured_run result;
  pid_t pid = -1;
  try {
    pid = start(command, ends[1]);
  } catch (...) {
    close(ends[0]);
    close(ends[1]);
    throw;
  }
  close(ends[1]);
  result.timed_out = !read_all(ends[0], timeout_ms, result.output);
  if (result.timed_out) kill(pid, SIGKILL);
  close(ends[0]);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) {
    result.exit_code = WEXITSTATUS(status);
    result.ending = "exit code " + std::to_string(result.exit_code);
  } else {
    result.ending = "signal " + std::to_string(WTERMSIG(status));
  }
  return result;
}

}  // namespace ham::info
