// The target opens its host's pipes through /proc: there is no connection of all transports that carries descriptors.
#include "job/output_redirection.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>
#include <tuple>

#include "ham/offload/call.hpp"
#include "runtime/always_runs.hpp"

namespace ham::inline v1::detail {
namespace {

/// A pipe of another process, and what tells whether it is the one that was meant: where processes have namespaces, a
/// number may be that of another one.
using remote_pipe = std::tuple<std::int64_t, std::int32_t, std::uint64_t>;  // process, descriptor, inode

remote_pipe name_of_pipe(const base::unique_fd& fd) {
  struct stat about {};
  ::fstat(fd.get(), &about);
  return {::getpid(), fd.get(), about.st_ino};
}

/// -1, with errno.
base::unique_fd open_remote_pipe(const remote_pipe& name) {
  const auto& [process, fd, inode] = name;
  const std::string path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(fd);
  base::unique_fd pipe(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat about {};
  if (pipe && (::fstat(pipe.get(), &about) != 0 || !S_ISFIFO(about.st_mode) || about.st_ino != inode)) {
    pipe.reset();
    errno = ESRCH;
  }
  if (pipe) ::fcntl(pipe.get(), F_SETFL, 0);  // not O_NONBLOCK: a full pipe makes who writes wait
  return pipe;
}

/// What is called in the target. 0, or errno.
std::int32_t lead_output_into(const remote_pipe& out, const remote_pipe& err) {
  const base::unique_fd to_out = open_remote_pipe(out);
  if (!to_out) return errno;
  const base::unique_fd to_err = open_remote_pipe(err);
  if (!to_err) return errno;
  std::fflush(stdout);
  std::fflush(stderr);
  std::cout.flush();
  if (::dup2(to_out.get(), STDOUT_FILENO) < 0 || ::dup2(to_err.get(), STDERR_FILENO) < 0) return errno;
  return 0;
}

[[maybe_unused]] const bool output_is_always_led = always_run(fn<&lead_output_into>);

}  // namespace

void redirect_output(node_t node, const output_pipes& pipes) {
  const std::int32_t problem =
      offload::sync(node, fn<&lead_output_into>, name_of_pipe(pipes.out), name_of_pipe(pipes.err));
  if (problem == 0) return;
  throw config_error("node " + std::to_string(node) + " cannot open a pipe of its host through /proc (" +
                     std::strerror(problem) + "); set HAM_OUTPUT, with which output is captured from the start on");
}

}  // namespace ham::detail
