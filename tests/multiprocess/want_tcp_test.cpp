// Want of everything over tcp: descriptors on the host, in a program that waits for hosts, and in its acceptor;
// processes and memory of that program; system calls on either side. A job works, or says what is missing and what to
// do; who waits for hosts serves them again when there are descriptors.
// link: ham::ham
// timeout: 600
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <sstream>
#include <string_view>

#include "base/unique_fd.hpp"
#include "forbidden_calls.hpp"
#include "some_attempt.hpp"
#include "tcp_server.hpp"

using namespace ham;
using namespace ham::test;

namespace {

int echo(int value) { return value; }
std::size_t length(const std::vector<double>& of) { return of.size(); }

/// A host with two targets of the program that waits at TEST_NODES. 7: nothing was missing. What is missing ends it
/// with an error, which it prints, and with 8. TEST_CALLS: without transfers, which wait until the target accepts a
/// connection for them.
int a_tcp_job() {
  try {
    const std::string target = std::getenv("TEST_NODES");
    const runtime job(nodes(target + "," + target));
    const std::vector<double> numbers(1 << 17, 3);
    if (std::getenv("TEST_CALLS") == nullptr) {
      const auto there = offload::allocate<double>(1, numbers.size());
      offload::put_sync(numbers.data(), there, numbers.size());
      std::vector<double> back(numbers.size());
      offload::get_sync(there, back.data(), back.size());
      if (back != numbers) return 2;
    }
    if (offload::sync(1, fn<&length>, numbers) != numbers.size()) return 1;
    const auto ask = [](node_t other) { return offload::sync(other, fn<&echo>, 4); };
    if (offload::sync(1, ask, node_t{2}) != 4) return 4;
    return offload::sync(offload::add_node(target), fn<&echo>, 5) == 5 ? 7 : 5;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "the job: %s\n", problem.what());
    return 8;
  }
}
const scenario host("a_tcp_job", a_tcp_job);

// ---- what this process may not have, as its environment says

constexpr const char* cannot_be_limited = "it cannot be limited";

bool limit(decltype(RLIMIT_NOFILE) of, long to) {
  const rlimit both{static_cast<rlim_t>(to), static_cast<rlim_t>(to)};
  return ::setrlimit(of, &both) == 0;
}

/// Root is not counted: the process becomes nobody.
bool limit_processes(long to) {
  constexpr uid_t nobody = 65534;
  if (::geteuid() == 0 && (::setresgid(nobody, nobody, nobody) != 0 || ::setresuid(nobody, nobody, nobody) != 0))
    return false;
  return limit(RLIMIT_NPROC, to);
}

// ---- jobs

const std::string no_key = "HAM_TCP_SECURITY=off";

struct outcome {
  int status = -1;  ///< exit status; -1: killed
  std::string said;
};
/// `variable`: more of its environment.
outcome run_job(const server& target, const std::string& variable = "TEST_NOTHING=") {
  host_process job("a_tcp_job", {no_key, "TEST_NODES=" + target.nodes(), variable});
  outcome result;
  result.said = job.rest();
  const int status = job.wait();
  if (WIFEXITED(status)) result.status = WEXITSTATUS(status);
  return result;
}

/// A job works, or it, or the program that waits, ends by itself and says what is missing.
bool works_or_says(int status, const std::string& said, const std::string& what) {
  return status == 7 || ((status == 8 || status == refuses_to_serve) && said.find(what) != std::string::npos);
}
bool says_what_is_missing(const std::string& text) {
  return text.find("ulimit -n") != std::string::npos || text.find("open files") != std::string::npos;
}

/// The time that a process has computed, in ticks of the clock.
long computed(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  std::istringstream rest(text.substr(text.rfind(')') + 2));
  std::string word;
  long ticks = 0;
  for (int field = 3; rest >> word && field <= 15; ++field) ticks += field >= 14 ? std::stol(word) : 0;
  return ticks;
}

base::unique_fd silent_connection(const std::string& address) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
  base::unique_fd made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(made.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) made.reset();
  return made;
}

TEST(want_over_tcp, of_descriptors_on_the_host) {
  if (sanitized()) GTEST_SKIP() << "sanitizers find out by a pipe whether memory can be read";
  const server target("", 100);
  bool worked = false;
  for (const char* const files : {"3", "5", "7", "9", "11", "13", "15", "18", "22", "26", "30", "40", "64"}) {
    const outcome job = run_job(target, "TEST_FILES=" + std::string(files));
    EXPECT_TRUE(job.status == 7 || (job.status == 8 && says_what_is_missing(job.said)))
        << "ulimit -n " << files << ": " << job.status << " " << job.said;
    worked = job.status == 7;
    if (worked) break;
  }
  EXPECT_TRUE(worked);
  const outcome job = run_job(target);
  EXPECT_EQ(job.status, 7) << "the target goes on: " << job.said;
}

/// The processes of the jobs have the limit of the program that waits. Either side says it.
TEST(want_over_tcp, of_descriptors_on_targets) {
  if (sanitized()) GTEST_SKIP() << "sanitizers find out by a pipe whether memory can be read";
  bool worked = false;
  for (const char* const files :
       {"12", "14", "16", "18", "19", "20", "21", "22", "23", "24", "26", "28", "32", "40", "64"}) {
    server target("", 100, "127.0.0.1:0", {"TEST_FILES=" + std::string(files)});
    const outcome job = run_job(target, "TEST_CALLS=1");
    ::kill(target.pid(), SIGTERM);
    const std::string target_said = target.process().rest();
    EXPECT_TRUE(job.status == 7 || (job.status == 8 && says_what_is_missing(job.said + target_said)))
        << "ulimit -n " << files << ": " << job.status << " " << job.said << "; the target: " << target_said;
    worked = job.status == 7;
    if (worked) break;
  }
  EXPECT_TRUE(worked);
}

TEST(want_over_tcp, of_descriptors_in_accept_ends_when_there_are_some) {
  constexpr std::size_t files = 40;
  server target("", 100, "127.0.0.1:0", {"TEST_FILES=" + std::to_string(files)});
  pid_t waiting = -1;
  ASSERT_TRUE(eventually([&] { return (waiting = child_of(target.pid())) > 0; }));
  std::vector<base::unique_fd> silent;
  for (std::size_t i = 0; i < files; ++i) {
    silent.push_back(silent_connection(target.address()));
    ASSERT_TRUE(silent.back());
  }
  ASSERT_TRUE(eventually([&] { return descriptors_of(waiting) >= files; })) << "it accepts as many as it can";
  const std::string said = target.process().line();
  EXPECT_NE(said.find("cannot accept connections"), std::string::npos) << said;
  EXPECT_TRUE(says_what_is_missing(said)) << said;

  // Who spins computes all the time that it gets; a tenth is far more than what an attempt now and then takes.
  EXPECT_TRUE(in_some_attempt([&] {
    const auto began = std::chrono::steady_clock::now();
    const long before = computed(waiting);
    std::this_thread::sleep_for(1s);
    const double used = static_cast<double>(computed(waiting) - before) / static_cast<double>(::sysconf(_SC_CLK_TCK));
    return used < std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count() / 10;
  })) << "it spins";

  silent.clear();
  const outcome job = run_job(target);
  EXPECT_EQ(job.status, 7) << job.said;
  EXPECT_TRUE(alive(target.pid()));
}

// ---- processes, threads and memory of the program that waits

/// Its own limits are those of the processes of its jobs. Either side says what is missing, if it starts at all.
void expect_jobs_within(const std::string& variable, const std::vector<const char*>& limits, const char* advice) {
  bool worked = false;
  for (const char* const limit : limits) {
    std::string said;
    int status = -1;
    try {
      server target("", 100, "127.0.0.1:0", {variable + "=" + limit});
      const outcome job = run_job(target);
      ::kill(target.pid(), SIGTERM);
      status = job.status;
      said = job.said + "; the target: " + target.process().rest();
    } catch (const no_server& why) {
      status = why.status;
      said = why.what();
    }
    if (said.find(cannot_be_limited) != std::string::npos) GTEST_SKIP() << said;
    EXPECT_TRUE(works_or_says(status, said, advice)) << variable << "=" << limit << ": " << status << " " << said;
    worked = status == 7;
    if (worked) break;
  }
  EXPECT_TRUE(worked);
}

TEST(want_over_tcp, of_processes_and_threads_on_targets) {
  if (sanitized()) GTEST_SKIP() << "sanitizers have threads of their own";
  expect_jobs_within("TEST_PROCESSES", {"1", "3", "5", "6", "8", "12", "16", "64"}, "ulimit -u");
}

TEST(want_over_tcp, of_address_space_on_targets) {
  if (sanitized()) GTEST_SKIP() << "sanitizers need most of the address space";
  expect_jobs_within("TEST_MEGABYTES",
                     {"30", "50", "100", "150", "200", "300", "400", "600", "800", "1200", "1600", "2400"},
                     "ulimit -v");
}

// ---- system calls that the kernel refuses

constexpr named_call calls[] = {{"accept4", SYS_accept4},
                                {"socket", SYS_socket},
                                {"bind", SYS_bind},
                                {"listen", SYS_listen},
                                {"connect", SYS_connect},
                                {"epoll_create1", SYS_epoll_create1},
                                {"epoll_ctl", SYS_epoll_ctl},
                                {"setsockopt", SYS_setsockopt},
                                {"getsockopt", SYS_getsockopt},
                                {"getsockname", SYS_getsockname},
                                {"getpeername", SYS_getpeername},
                                {"sendto", SYS_sendto},
                                {"recvfrom", SYS_recvfrom},
                                {"sendmsg", SYS_sendmsg},
                                {"recvmsg", SYS_recvmsg},
                                {"shutdown", SYS_shutdown},
                                {"eventfd2", SYS_eventfd2},
#ifndef HAM_TEST_SANITIZED  // which find out by a pipe whether memory can be read, and clone
                                {"pipe2", SYS_pipe2},
                                {"clone", SYS_clone},
#endif
                                {"memfd_create", SYS_memfd_create},
                                {"getrandom", SYS_getrandom},
                                {"pidfd_open", SYS_pidfd_open},
                                {"pidfd_send_signal", SYS_pidfd_send_signal},
                                {"kill", SYS_kill},
#ifndef HAM_TEST_SANITIZED  // which look for leaks with it
                                {"wait4", SYS_wait4},
#endif
                                {"waitid", SYS_waitid},
                                {"epoll_pwait2", SYS_epoll_pwait2}};
constexpr const char* no_filters = "no filters of system calls here";
constexpr int errors[] = {EPERM, ENOSYS};

std::string refusing(const named_call& call, int error) {
  return "TEST_REFUSED=" + std::to_string(call.number) + ":" + std::to_string(error);
}

void expect_works_or_is_named(const named_call& call, int status, const std::string& said) {
  EXPECT_TRUE(works_or_says(status, said, "allow the system call " + std::string(call.name)))
      << call.name << ": " << status << " " << said;
}

TEST(want_over_tcp, of_system_calls_on_the_host) {
  if (!can_forbid()) GTEST_SKIP() << no_filters;
  const server target("", 100);
  for (const int error : errors) {
    for (const named_call& call : calls) {
      const outcome job = run_job(target, refusing(call, error));
      expect_works_or_is_named(call, job.status, job.said);
    }
  }
  const outcome job = run_job(target);
  EXPECT_EQ(job.status, 7) << "the target goes on: " << job.said;
}

TEST(want_over_tcp, of_system_calls_on_targets) {
  if (!can_forbid()) GTEST_SKIP() << no_filters;
  for (const int error : errors) {
    for (const named_call& call : calls) {
      try {
        server target("", 100, "127.0.0.1:0", {refusing(call, error)});
        const outcome job = run_job(target);
        ::kill(target.pid(), SIGTERM);
        expect_works_or_is_named(call, job.status, job.said + "; the target: " + target.process().rest());
      } catch (const no_server& why) {
        expect_works_or_is_named(call, why.status, why.what());
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto number_of = [](const char* variable) {
    const char* const text = std::getenv(variable);
    return text == nullptr ? 0L : std::atol(text);
  };
  const long files = number_of("TEST_FILES");
  const long processes = number_of("TEST_PROCESSES");
  const long megabytes = number_of("TEST_MEGABYTES");
  const long refused = number_of("TEST_REFUSED");
  bool can_be = files == 0 || limit(RLIMIT_NOFILE, files);
  can_be = can_be && (processes == 0 || limit_processes(processes));
  can_be = can_be && (megabytes == 0 || limit(RLIMIT_AS, megabytes << 20));
  can_be = can_be && (refused == 0 || forbid(refused, std::atoi(std::strchr(std::getenv("TEST_REFUSED"), ':') + 1)));
  if (!can_be) {
    std::puts(cannot_be_limited);
    return 125;
  }
  // Who hangs is ended. A program that waits and wants nothing serves all jobs of a test.
  const char* const name = std::getenv("HAM_TEST_SCENARIO");
  const bool for_a_test =
      files + processes + megabytes + refused == 0 && name != nullptr && name == std::string_view("serve");
  if (name != nullptr) ::alarm(for_a_test ? 600 : 90);
  return run(argc, argv);
}
