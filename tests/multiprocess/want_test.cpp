// Want of everything that a limit can take away: a job works, slower, or says what is missing and what to do. It never
// hangs, crashes, or leaves processes behind.
// timeout: 600
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/vfs.h>

#include <array>
#include <functional>
#include <thread>

#include "forbidden_calls.hpp"
#include "memory_group.hpp"
#include "own_mounts.hpp"
#include "sanitizer_notes.hpp"
#include "support.hpp"

using namespace ham;
using namespace ham::test;

namespace {

// ---- the job: a host with two targets and all that they usually do

int echo(int value) { return value; }
std::size_t length(const std::vector<double>& of) { return of.size(); }
pid_t my_pid() { return ::getpid(); }

/// 7: nothing was missing. What is missing ends it with an error, which it prints.
int a_job() {
  try {
    std::vector<double> numbers(1 << 17, 3);
    const auto there = offload::allocate<double>(1, numbers.size());
    offload::put_sync(numbers.data(), there, numbers.size());
    std::vector<double> back(numbers.size());
    offload::get_sync(there, back.data(), back.size());
    if (back != numbers || offload::sync(1, fn<&length>, numbers) != numbers.size()) return 1;
    offload::context queue(1);
    if (offload::sync(queue, fn<&echo>, 3) != 3) return 3;
    if (offload::sync(
            1, [](node_t other) { return offload::sync(other, fn<&echo>, 4); }, node_t{2}) != 4)
      return 4;
    const node_t late = offload::add_node("shm:1");
    if (offload::sync(late, fn<&echo>, 5) != 5) return 5;
    return 7;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "the job: %s\n", problem.what());
    return 8;
  }
}

/// Adds targets until that cannot be; the others go on, and so does the job when some are gone.
int many_targets() {
  int added = 0;
  try {
    for (; added < 200; ++added) {
      const node_t fresh = offload::add_node("shm:1");
      if (offload::sync(fresh, fn<&echo>, added) != added) return 1;
    }
    return 9;  // there was no limit
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "after %d: %s\n", added, problem.what());
  }
  if (offload::sync(1, fn<&echo>, 3) != 3) return 3;
  for (node_t node = 3; node < 3 + added; ++node) offload::remove_node(node);
  std::this_thread::sleep_for(1s);
  return offload::sync(offload::add_node("shm:1"), fn<&echo>, 4) == 4 ? 7 : 4;
}

/// Memory that the limit does not allow is an error of the call, on either side; the rest goes on.
int too_much_memory() {
  for (const node_t node : {0, 1}) {
    try {
      const auto much = offload::allocate<char>(node, std::size_t{8} << 30);
      static_cast<void>(much);
      return 1;
    } catch (const std::exception& problem) {
      std::fprintf(stderr, "node %d: %s\n", node, problem.what());
    }
    if (offload::sync(1, fn<&echo>, 3) != 3) return 3;
  }
  try {
    offload::sync(1, [] { return std::vector<char>(std::size_t{8} << 30).size(); });
    return 4;
  } catch (const std::bad_alloc&) {
  }
  return offload::sync(1, fn<&echo>, 4) == 4 ? 7 : 5;
}

/// Uses pages until the kernel ends this process, but no more than `max_bytes`, where nothing limits it. `group`: the
/// control group to enter before; empty: none.
std::size_t use_up_memory(const std::string& group) {
  constexpr std::size_t max_bytes = std::size_t{768} << 20;
  constexpr std::size_t step = 4096;
  if (!group.empty() && !memory_group::enter(group)) throw std::runtime_error("cannot enter " + group);
  std::ofstream("/proc/self/oom_score_adj") << 1000;  // this process, no other one of the group
  void* const made =
      ::mmap(nullptr, max_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (made == MAP_FAILED) throw std::bad_alloc();
  for (std::size_t at = 0; at < max_bytes; at += step) static_cast<volatile char*>(made)[at] = 1;
  ::munmap(made, max_bytes);
  return max_bytes;
}
constexpr int lost_more = 9;  // than the target that has used up the memory: the kernel's doing, or the library's
void end_itself() { ::raise(SIGKILL); }

/// A target that the kernel kills for want of memory is named as such, and only that one; the others go on. The group
/// that limits it: HAM_TEST_GROUP, else that of the job.
int a_target_out_of_memory() {
  const char* const group = std::getenv("HAM_TEST_GROUP");
  try {
    static_cast<void>(offload::sync(1, fn<&use_up_memory>, std::string(group == nullptr ? "" : group)));
    return 1;  // there was no limit
  } catch (const node_failure& failure) {
    std::fprintf(stderr, "without memory: %s\n", failure.what());
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 3;
  }
  try {
    if (offload::sync(2, fn<&echo>, 3) != 3) return 4;
  } catch (const node_failure&) {
    return lost_more;
  }
  if (offload::sync(offload::add_node("shm:1"), fn<&echo>, 4) != 4) return 5;
  try {
    offload::sync(2, fn<&end_itself>);
    return 6;
  } catch (const node_failure& failure) {
    std::fprintf(stderr, "with memory: %s\n", failure.what());
  }
  return 7;
}

/// Standard output that takes nothing: the stream says so, and so does the library, once.
int output_on_a_full_disk() {
  const auto print = [] {
    bool failed = false;
    for (int i = 0; i < 100; ++i) {
      std::printf("a line that nobody will read\n");
      failed = failed || std::ferror(stdout) != 0;
    }
    return failed;
  };
  if (!offload::sync(1, print)) return 1;
  return offload::sync(1, fn<&my_pid>) > 0 ? 7 : 3;
}

const scenario scenarios[] = {{"a_job", a_job},
                              {"many_targets", many_targets},
                              {"too_much_memory", too_much_memory},
                              {"a_target_out_of_memory", a_target_out_of_memory},
                              {"output_on_a_full_disk", output_on_a_full_disk}};

// ---- a process that lacks something

struct outcome {
  int status = -1;  ///< exit status; -1: killed
  int signal = 0;
  std::string said;
  bool left_processes = false;
};

/// The scenario in a process that `prepare` has changed before exec; false: it could not, which is status 125.
outcome run_wanting(const char* scenario_name, const std::function<bool()>& prepare) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // what is left behind becomes a child of this process
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  const std::set<pid_t> own = children();  // targets of this process
  int said[2];
  if (::pipe2(said, O_CLOEXEC) != 0) return {};
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::setenv("HAM_TEST_SCENARIO", scenario_name, 1);
    ::setenv("HAM_NODES", "shm:2", 1);
    ::setenv("HAM_START_TIMEOUT", "100", 1);  // more than this test waits
    ::dup2(said[1], STDERR_FILENO);
    ::alarm(90);  // stays across exec
    if (!prepare()) ::_exit(125);
    ::execl(program.c_str(), "app", nullptr);
    ::_exit(126);
  }
  ::close(said[1]);
  outcome result;
  std::array<char, 4096> text{};
  for (ssize_t got = 0; (got = ::read(said[0], text.data(), text.size())) > 0;)
    result.said.append(text.data(), static_cast<std::size_t>(got));
  ::close(said[0]);
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (WIFEXITED(status)) result.status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  result.left_processes = !eventually([&] { return children() == own; });
  return result;
}

/// Neither hung (SIGALRM) nor crashed, nor left anybody behind.
void expect_orderly(const outcome& job, const std::string& what) {
  EXPECT_EQ(job.signal, 0) << what << ": " << job.said;
  EXPECT_FALSE(job.left_processes) << what << ": processes are left";
}

/// The line of the output that begins like that, without its begin.
std::string line_of(const outcome& job, const std::string& begin) {
  const std::size_t at = job.said.find(begin);
  return at == std::string::npos ? "" : job.said.substr(at + begin.size(), job.said.find('\n', at) - at - begin.size());
}

/// Of the scenario a_target_out_of_memory.
void expect_killed_for_memory(const outcome& job) {
  const std::string why = "was killed by signal 9 (Killed), most likely by the kernel, which was out of memory";
  expect_orderly(job, "out of memory");
  EXPECT_EQ(job.status, 7) << job.said;
  EXPECT_NE(line_of(job, "without memory: ").find(why), std::string::npos) << job.said;
  EXPECT_NE(line_of(job, "ham: node 1 is lost: ").find(why), std::string::npos) << job.said;
  const std::string other = line_of(job, "with memory: ");
  EXPECT_NE(other.find("was killed by signal 9 (Killed)"), std::string::npos) << job.said;
  EXPECT_EQ(other.find("memory"), std::string::npos) << job.said;
}

bool limit(decltype(RLIMIT_NOFILE) of, rlim_t to) {
  const rlimit both{to, to};
  return ::setrlimit(of, &both) == 0;
}

/// Root is not counted: the process becomes nobody.
bool limit_processes(rlim_t to) {
  constexpr uid_t nobody = 65534;
  if (::geteuid() == 0 && (::setresgid(nobody, nobody, nobody) != 0 || ::setresuid(nobody, nobody, nobody) != 0))
    return false;
  return ::access("/proc/self/exe", X_OK) == 0 && limit(RLIMIT_NPROC, to);
}

}  // namespace

// ---- limits of processes

TEST(want_of, descriptors) {
#ifdef HAM_TEST_SANITIZED
  GTEST_SKIP() << "sanitizers find out by a pipe whether memory can be read";
#endif
  bool worked = false;
  for (const rlim_t files : {3, 6, 10, 14, 18, 22, 26, 30, 40, 64}) {
    const outcome job = run_wanting("a_job", [files] { return limit(RLIMIT_NOFILE, files); });
    const std::string what = "ulimit -n " + std::to_string(files);
    expect_orderly(job, what);
    if (job.status == 127) continue;  // not even its libraries could be opened
    EXPECT_TRUE(job.status == 7 || job.said.find("ulimit -n") != std::string::npos ||
                job.said.find("open files") != std::string::npos)
        << what << ": " << job.status << " " << job.said;
    worked = job.status == 7;
    if (worked) break;
  }
  EXPECT_TRUE(worked);
}

TEST(want_of, descriptors_for_more_targets) {
  const outcome job = run_wanting("many_targets", [] { return limit(RLIMIT_NOFILE, 100); });
  expect_orderly(job, "ulimit -n 100");
  EXPECT_EQ(job.status, 7) << job.said;
  EXPECT_NE(job.said.find("ulimit -n"), std::string::npos) << job.said;
}

TEST(want_of, processes_and_threads) {
#ifdef HAM_TEST_SANITIZED
  GTEST_SKIP() << "sanitizers have threads of their own";
#endif
  bool worked = false;
  for (const rlim_t processes : {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 64}) {
    const outcome job = run_wanting("a_job", [processes] { return limit_processes(processes); });
    if (job.status == 125 || job.status == 126) GTEST_SKIP() << "nobody cannot run this program";
    const std::string what = "ulimit -u " + std::to_string(processes);
    expect_orderly(job, what);
    EXPECT_TRUE(job.status == 7 || job.said.find("ulimit -u") != std::string::npos)
        << what << ": " << job.status << " " << job.said;
    worked = job.status == 7;
    if (worked) break;
  }
  EXPECT_TRUE(worked);
}

TEST(want_of, address_space) {
#ifdef HAM_TEST_SANITIZED
  GTEST_SKIP() << "sanitizers need most of the address space";
#endif
  bool worked = false;
  for (const rlim_t megabytes : {50, 100, 150, 200, 300, 400, 600, 800, 1200, 1600, 2400}) {
    const outcome job = run_wanting("a_job", [megabytes] { return limit(RLIMIT_AS, megabytes << 20); });
    const std::string what = "ulimit -v of " + std::to_string(megabytes) + " MB";
    expect_orderly(job, what);
    if (job.status == 127) continue;  // no room for its libraries
    EXPECT_TRUE(job.status == 7 || (job.said.find("cannot ") < job.said.find("ulimit -v") &&
                                    job.said.find("ulimit -v") != std::string::npos))
        << what << ": " << job.status << " " << job.said;
    worked = job.status == 7;
    if (worked) break;
  }
  EXPECT_TRUE(worked);
}

TEST(want_of, memory) {
#ifdef HAM_TEST_SANITIZED
  GTEST_SKIP() << "sanitizers need most of the address space";
#endif
  for (const auto which : {RLIMIT_AS, RLIMIT_DATA}) {
    const outcome job = run_wanting("too_much_memory", [which] { return limit(which, std::size_t{3} << 30); });
    expect_orderly(job, which == RLIMIT_AS ? "RLIMIT_AS" : "RLIMIT_DATA");
    if (which == RLIMIT_DATA && job.status == 1) continue;  // it does not count shared memory
    EXPECT_EQ(job.status, 7) << job.said;
  }
}

// ---- memory that a control group limits. Where this test may not make one, the limits above stand for it.

TEST(want_of, memory_of_a_control_group) {
  const memory_group group(std::size_t{256} << 20);
  if (!group.why_not().empty()) GTEST_SKIP() << group.why_not() << "; ulimit -v is tested instead";
  const outcome job = run_wanting("a_job", [&] { return group.enter(); });
  expect_orderly(job, "256 MB");
  EXPECT_EQ(job.status, 7) << job.said;
}

/// The host and all targets share the limit.
TEST(want_of, memory_of_the_control_group_of_a_job) {
  const memory_group group(std::size_t{256} << 20);
  if (!group.why_not().empty()) GTEST_SKIP() << group.why_not();
  if (group.kills() < 0) GTEST_SKIP() << "this kernel does not count whom it kills in " << group.path();
  // The kernel may kill a second process before the memory of the first one is free: such a job says nothing.
  constexpr int max_attempts = 20;
  for (int attempt = 0; attempt < max_attempts; ++attempt) {
    const int before = group.kills();
    const outcome job = run_wanting("a_target_out_of_memory", [&] { return group.enter(); });
    if (group.kills() - before > 1) continue;
    EXPECT_EQ(group.kills() - before, 1);
    expect_killed_for_memory(job);
    return;
  }
  GTEST_SKIP() << "the kernel has killed more than one process in each of " << max_attempts << " jobs";
}

TEST(want_of, memory_of_the_control_group_of_a_target) {
  const memory_group group(std::size_t{64} << 20);
  if (!group.why_not().empty()) GTEST_SKIP() << group.why_not();
  if (!group.is_version_1())
    GTEST_SKIP() << "version 2 of control groups does not limit memory in groups below one that has processes";
  expect_killed_for_memory(
      run_wanting("a_target_out_of_memory", [&] { return ::setenv("HAM_TEST_GROUP", group.path().c_str(), 1) == 0; }));
}

// ---- places that are missing

TEST(want_of, shared_memory_file_system) {
  const outcome job = run_wanting("a_job", [] {
    return ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 &&
           ::mount("none", "/dev/shm", "tmpfs", MS_RDONLY, "size=4096") == 0;
  });
  if (job.status == 125) GTEST_SKIP() << "no namespaces here";
  expect_orderly(job, "/dev/shm read-only");
  EXPECT_EQ(job.status, 7) << job.said;
  EXPECT_EQ(without_sanitizer_notes(job.said), "");
}

TEST(want_of, room_in_the_shared_memory_file_system) {
  const outcome job = run_wanting("a_job", [] { return own_mounts() && mount_full("/dev/shm"); });
  if (job.status == 125) GTEST_SKIP() << "no namespaces here";
  expect_orderly(job, "/dev/shm full");
  EXPECT_EQ(job.status, 7) << job.said;
  EXPECT_EQ(without_sanitizer_notes(job.said), "");
}

TEST(want_of, a_folder_for_shared_memory) {
  const outcome job = run_wanting(
      "a_job", [] { return own_mounts() && mount_bare_dev() && ::access("/dev/shm", F_OK) != 0 && errno == ENOENT; });
  if (job.status == 125) GTEST_SKIP() << "no namespaces here";
  expect_orderly(job, "no /dev/shm");
  EXPECT_EQ(job.status, 7) << job.said;
  EXPECT_EQ(without_sanitizer_notes(job.said), "");
}

/// Processes of others are hidden, as with hidepid=2, and files of /proc that say more than what a process is.
TEST(want_of, parts_of_proc) {
  const outcome job = run_wanting("a_job", [] {
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    for (const char* file : {"/proc/loadavg", "/proc/vmstat", "/proc/cpuinfo", "/proc/meminfo"}) {
      if (::mount("/dev/null", file, nullptr, MS_BIND, nullptr) != 0) return false;
    }
    return ::mount("none", "/proc/sys", "tmpfs", MS_RDONLY, "size=4096") == 0;
  });
  if (job.status == 125) GTEST_SKIP() << "no namespaces here";
  expect_orderly(job, "/proc restricted");
  EXPECT_EQ(job.status, 7) << job.said;
  EXPECT_EQ(without_sanitizer_notes(job.said), "");
}

TEST(want_of, temporary_files_and_a_home) {
  const outcome job = run_wanting("a_job", [] {
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    ::unsetenv("HOME");
    ::unsetenv("TMPDIR");
    ::unsetenv("PATH");
    return ::mount("none", "/run", "tmpfs", MS_RDONLY, "size=4096") == 0 &&
           ::mount("none", "/var/tmp", "tmpfs", MS_RDONLY, "size=4096") == 0;
  });
  if (job.status == 125) GTEST_SKIP() << "no namespaces here";
  expect_orderly(job, "nothing can be written");
  EXPECT_EQ(job.status, 7) << job.said;
}

// ---- output

TEST(want_of, room_for_output) {
  const outcome job = run_wanting("output_on_a_full_disk", [] {
    const int full = ::open("/dev/full", O_WRONLY);
    return full >= 0 && ::dup2(full, STDOUT_FILENO) == STDOUT_FILENO;
  });
  if (job.status == 125) GTEST_SKIP() << "no /dev/full here";
  expect_orderly(job, "/dev/full");
  EXPECT_EQ(job.status, 7) << job.said;
  const std::size_t first = job.said.find("cannot write its standard output (No space left on device)");
  EXPECT_NE(first, std::string::npos) << job.said;
  EXPECT_EQ(job.said.find("cannot write", first + 1), std::string::npos) << "once";
}

int main(int argc, char** argv) { return ham::test::run(argc, argv); }
