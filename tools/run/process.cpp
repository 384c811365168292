// fork and exec, with the reason when exec fails.
#include "process.hpp"

#include "problem.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace ham::inline v1::run {
namespace {

enum class stage : int { folder, program };

struct failure {
  stage where;
  int reason;
};

/// Between fork and exec; what fails is written to `news`.
[[noreturn]] void become(const process_plan& plan, char* const* arguments, pid_t parent, int news) {
  const auto fail = [news](stage where) {
    const failure what{where, errno};
    static_cast<void>(!::write(news, &what, sizeof what));
    ::_exit(127);
  };
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(127);
  // What ham-run itself blocks and ignores is not the program's concern.
  sigset_t none;
  ::sigemptyset(&none);
  ::signal(SIGPIPE, SIG_DFL);
  if (plan.deaf_to_interrupts) {
    ::signal(SIGINT, SIG_IGN);
    ::signal(SIGQUIT, SIG_IGN);
  }
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const std::array<int, 3> wanted{plan.in, plan.out, plan.err};
  for (int number = 0; number < 3; ++number) {
    const int from = wanted[static_cast<std::size_t>(number)];
    if (from >= 0) ::dup2(from, number);
  }
  for (const int one : plan.inherited) ::fcntl(one, F_SETFD, 0);
  for (const auto& [name, value] : plan.environment) ::setenv(name.c_str(), value.c_str(), 1);
  if (!plan.folder.empty() && ::chdir(plan.folder.c_str()) != 0) fail(stage::folder);
  ::execvp(arguments[0], arguments);
  fail(stage::program);
  ::_exit(127);
}

}  // namespace

pipe_ends make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    throw problem(std::string("cannot make a pipe (") + std::strerror(errno) + "); raise the limit ulimit -n");
  }
  return {descriptor(ends[0]), descriptor(ends[1])};
}

pid_t start_process(const process_plan& plan) {
  std::vector<char*> arguments;
  for (const std::string& one : plan.command) arguments.push_back(const_cast<char*>(one.c_str()));
  arguments.push_back(nullptr);
  pipe_ends news = make_pipe();
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) throw problem(std::string("cannot start a process (") + std::strerror(errno) + ")");
  if (pid == 0) become(plan, arguments.data(), parent, news.write.get());
  news.write.close();
  failure what{};
  ssize_t got = 0;
  do got = ::read(news.read.get(), &what, sizeof what);
  while (got < 0 && errno == EINTR);
  if (got != sizeof what) return pid;
  ::waitpid(pid, nullptr, 0);
  const std::string reason = std::string(" (") + std::strerror(what.reason) + ")";
  if (what.where == stage::folder) throw problem("cannot go to the folder " + plan.folder + reason);
  const std::string& program = plan.command.front();
  std::string advice = "; name a program that can be executed here";
  if (what.reason == ENOENT && program.find('/') == std::string::npos) {
    advice = "; it is not in PATH; write ./" + program + " for one in the current folder";
  }
  throw problem("cannot start " + program + reason + advice);
}

int exit_code(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

std::string describe_end(int wait_status) {
  if (!WIFSIGNALED(wait_status)) return "status " + std::to_string(WEXITSTATUS(wait_status));
  const int number = WTERMSIG(wait_status);
  return "signal " + std::to_string(number) + " (" + ::strsignal(number) + ")";
}

}  // namespace ham::run
