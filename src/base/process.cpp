// vfork, exec, pidfd.
#include "base/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "base/own_program.hpp"
#include "base/process_end.hpp"
#include "base/program_file.hpp"
#include "base/refused_call.hpp"
#include "base/settings.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::base {
namespace {

int wait_status_of(const siginfo_t& seen) noexcept {
  return seen.si_code == CLD_EXITED ? (seen.si_status & 0xff) << 8 : seen.si_status & 0x7f;
}

/// Read before anything pins this process to one of them.
const unsigned cores_at_start = [] {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  if (::sched_getaffinity(0, sizeof cpus, &cpus) != 0) return 1U;
  return static_cast<unsigned>(std::max(1, CPU_COUNT(&cpus)));
}();

/// What the program of this process has set holds for those that it starts as well, unless it says otherwise for one.
std::vector<std::string> with_settings(std::vector<std::string> extra) {
  for (const program_setting& one : program_settings()) {
    const setting_info& about = info_of(one.which);
    const std::string name = std::string(about.variable) + "=";
    const bool said = std::any_of(extra.begin(), extra.end(), [&](const auto& text) { return text.starts_with(name); });
    if (!about.trusted && !said) extra.push_back(name + one.text);
  }
  return extra;
}

struct child_plan {
  const char* path;
  char** arguments;
  char** environment;
  int inherited_fd;
  const cpu_set_t* cpus;
  output_fds output;
  pid_t parent;
  volatile int error;
  volatile bool pinning;
};

/// Runs in the child on the parent's memory: system calls only.
[[noreturn]] void become(child_plan& plan) noexcept {
  // A handler of the application must not run here, on the parent's memory. (The caller has signals blocked.)
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN) {
      continue;
    }
    action = {};
    action.sa_handler = SIG_DFL;
    ::sigaction(signal, &action, nullptr);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != plan.parent) ::_exit(127);
  if (plan.inherited_fd >= 0) ::fcntl(plan.inherited_fd, F_SETFD, 0);
  if (plan.output.out >= 0) ::dup2(plan.output.out, STDOUT_FILENO);
  if (plan.output.err >= 0) ::dup2(plan.output.err, STDERR_FILENO);
  if (plan.cpus != nullptr && ::sched_setaffinity(0, sizeof *plan.cpus, plan.cpus) != 0) {
    plan.error = errno;
    plan.pinning = true;
    ::_exit(127);
  }
  ::execve(plan.path, plan.arguments, plan.environment);
  plan.error = errno;
  ::_exit(127);
}

/// As waitpid, also where the kernel refuses that one.
pid_t reap(pid_t pid, int options, int& status) noexcept {
  const pid_t got = ::waitpid(pid, &status, options);
  if (got >= 0 || !is_refused(errno)) return got;
  siginfo_t seen{};
  if (::waitid(P_PID, static_cast<id_t>(pid), &seen, WEXITED | options) != 0) return -1;
  status = wait_status_of(seen);
  return seen.si_pid;
}

/// False, with errno.
bool send_kill(const unique_fd& process) noexcept {
  return ::syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0) == 0;
}

/// What to do about an exec that failed.
std::string advice(int error, const std::string& path) {
  if (error == ENOENT && path == own_program_link) return "mount /proc, by which a process finds its own program";
  if (error != ENOEXEC) return "check the path, and that it is executable";
  const std::string machine = elf_machine(path);
  if (machine.empty()) return "it is neither a program nor a script that begins with #!";
  return "it is a program for " + machine + "; put an emulator in front, as in exec:qemu-" +
         (machine == "x86-64" ? "x86_64" : machine) + "-static -L SYSROOT " + path;
}

}  // namespace

std::vector<std::string> environment_with(const std::vector<std::string>& said) {
  const std::vector<std::string> extra = with_settings(said);
  std::vector<std::string> result = extra;
  if (environ == nullptr) return result;  // after clearenv()
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string_view text(*one);
    const std::string_view name = text.substr(0, text.find('=') + 1);
    bool replaced = false;
    for (const std::string& other : extra) replaced = replaced || other.starts_with(name);
    if (!replaced) result.emplace_back(text);
  }
  return result;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

process start_process(const process_request& what) {
  const std::string& program = what.command.front();
  const std::string path = program == own_program_link ? own_program() : find_program(program);
  const std::vector<std::string> environment = environment_with(what.extra_environment);
  std::vector<char*> arguments = pointers(what.command);
  if (!what.shown_name.empty()) arguments.front() = const_cast<char*>(what.shown_name.c_str());
  std::vector<char*> variables = pointers(environment);
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  for (int cpu : what.cpus) {
    if (cpu >= 0 && cpu < CPU_SETSIZE) CPU_SET(cpu, &cpus);
  }
  child_plan plan{path.c_str(),
                  arguments.data(),
                  variables.data(),
                  what.inherited_fd,
                  what.cpus.empty() ? nullptr : &cpus,
                  what.output,
                  ::getpid(),
                  0,
                  false};
  const pid_t pid = ::vfork();
  if (pid == 0) become(plan);
  const int error = pid < 0 ? errno : plan.error;
  if (what.inherited_fd >= 0) ::fcntl(what.inherited_fd, F_SETFD, FD_CLOEXEC);
  if (pid > 0 && error != 0) ::waitpid(pid, nullptr, 0);
  if (pid < 0) {
    errno = error;
    throw config_error("cannot start a process for a target" +
                       refused_call("vfork", "raise the limit of processes (ulimit -u)"));
  }
  if (error != 0 && plan.pinning) {
    std::string cores;
    for (const int cpu : what.cpus) cores += " " + std::to_string(cpu);
    throw config_error("cannot run a target on the cores asked for," + cores + " (" + std::strerror(error) +
                       "); this process may use fewer cores, see HAM_NODES and --ham-cpu-affinity");
  }
  if (error != 0) {
    throw config_error("cannot start '" + what.command.front() + "' as a target (" + std::strerror(error) + "); " +
                       advice(error, path));
  }
  process child;
  child.pid = pid;
  child.end = what.end;
  child.pid_fd = unique_fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!child.pid_fd && (errno == EMFILE || errno == ENFILE)) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    throw config_error("cannot watch a target's process (too many open files); raise the limit ulimit -n");
  }
  return child;
}

std::string wait_for_end(const process& child, std::chrono::milliseconds timeout) {
  pollfd waiting{child.pid_fd.get(), POLLIN, 0};
  int ready = 1;
  while (child.pid_fd && (ready = ::poll(&waiting, 1, static_cast<int>(timeout.count()))) < 0 && errno == EINTR) {
  }
  if (ready <= 0) return {};
  bool recorded = child.end == nullptr;
  if (!recorded) {
    siginfo_t seen{};
    const int looked = ::waitid(P_PID, static_cast<id_t>(child.pid), &seen, WEXITED | WNOWAIT | WNOHANG);
    recorded = looked == 0 && seen.si_pid != 0;
    if (recorded) child.end->record(wait_status_of(seen));
  }
  int status = 0;
  const pid_t got = reap(child.pid, child.pid_fd ? 0 : WNOHANG, status);
  if (got == 0) return {};
  if (got < 0) return "ended";
  if (!recorded) child.end->record(status);  // late, where the kernel refuses waitid
  return describe_end(status);
}

void kill_process(const process& child) noexcept {
  if (child.pid_fd && (send_kill(child.pid_fd) || errno == ESRCH)) return;
  if (child.pid > 0) ::kill(child.pid, SIGKILL);
}

bool is_own_child(pid_t pid) {
  if (pid <= 0) return false;
  siginfo_t seen{};
  if (::waitid(P_PID, static_cast<id_t>(pid), &seen, WEXITED | WNOWAIT | WNOHANG) == 0) return true;
  return is_refused(errno) && parent_of(pid) == ::getpid();
}

int kill_child(pid_t pid) noexcept {
  if (::kill(pid, SIGKILL) == 0 || errno == ESRCH) return 0;
  const int error = errno;
  if (!is_refused(error)) return error;
  const unique_fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  return process && (send_kill(process) || errno == ESRCH) ? 0 : error;
}

bool kill_if_own_child(pid_t pid) noexcept {
  try {
    return is_own_child(pid) && kill_child(pid) == 0;
  } catch (const std::bad_alloc&) {  // of /proc
    return false;
  }
}

unsigned usable_cores() noexcept { return cores_at_start; }

int only_core() noexcept {
  cpu_set_t usable;
  if (::sched_getaffinity(0, sizeof usable, &usable) != 0 || CPU_COUNT(&usable) != 1) return -1;
  int core = 0;
  while (!CPU_ISSET(static_cast<unsigned>(core), &usable)) ++core;
  return core;
}

void raise_file_limit() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace ham::base
