// Targets reached over tcp: programs that wait for hosts, jobs that mix machines, keys, and what happens when one of
// the processes dies, stops or is another than expected.
// link: ham::ham
// timeout: 300
// serial: no
// also: HAM_TCP_RECORDS=openssl
#include "tcp_server.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <stdexcept>

#include "offload/block_crossing.hpp"
#include "writable_memory.hpp"

using namespace ham;
using namespace ham::test;

namespace {

// ---- what is called

int twice(int value) { return 2 * value; }
pid_t my_pid() { return ::getpid(); }
node_t who() { return offload::this_node(); }
std::size_t how_many() { return offload::num_nodes(); }
node_t ask(node_t other) { return offload::sync(other, fn<&who>); }
std::string grown(const std::string& text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}
void complain(const std::string& why) { throw std::domain_error(why); }
int countdown(int from, node_t other) {
  return from == 0 ? 0 : 1 + offload::sync(other, fn<&countdown>, from - 1, offload::this_node());
}
void work_forever() {
  volatile bool forever = true;
  while (forever) {
  }
}
void say_begun() { static_cast<void>(!::write(STDERR_FILENO, "begun\n", 6)); }
void compute_forever() {
  say_begun();
  work_forever();
}
void compute_at_exit() { std::atexit(compute_forever); }
/// Receives, and with that also the goodbye of the host.
void call_forever() {
  say_begun();
  volatile bool forever = true;
  while (forever) {
    try {
      offload::sync(0, fn<&who>);
    } catch (const error&) {
    }
  }
}
/// Whether this process has a socket that listens at `port`.
bool listens_at(int port) {
  for (const auto& one : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int fd = std::atoi(one.path().filename().c_str());
    int listening = 0;
    socklen_t size = sizeof listening;
    sockaddr_in at{};
    socklen_t at_size = sizeof at;
    if (::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) == 0 && listening != 0 &&
        ::getsockname(fd, reinterpret_cast<sockaddr*>(&at), &at_size) == 0 && ntohs(at.sin_port) == port) {
      return true;
    }
  }
  return false;
}
/// How often a key of 32 times this byte occurs in what this process can write to; bytes come inverted, so that the
/// search does not find itself.
int keys_in_memory(unsigned char inverted) {
  int found = 0;
  for_each_writable_mapping([&](std::span<const unsigned char> bytes) {
    int run = 0;
    for (const unsigned char one : bytes) {
      run = static_cast<unsigned char>(~one) == inverted ? run + 1 : 0;
      if (run == 32) ++found;
    }
  });
  return found;
}
std::atomic<int> counted{0};
int count() { return ++counted; }
std::size_t my_length(const std::string& text) { return text.size(); }

// ---- programs that host

/// Keeps the target busy: in a call, in a call that makes calls itself, in a context, or at the end of its process.
void occupy(const std::string& how) {
  if (how == "call") offload::ping(1, fn<&compute_forever>);
  if (how == "nested") offload::ping(1, fn<&call_forever>);
  if (how == "context") {
    auto* const queue = new offload::context(1);  // its end would wait
    offload::ping(*queue, fn<&compute_forever>);
  }
  if (how == "exit") offload::sync(1, fn<&compute_at_exit>);
}

/// Leaves at SIGUSR1.
int be_a_host() {
  sigset_t leave;
  ::sigemptyset(&leave);
  ::sigaddset(&leave, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &leave, nullptr);
  const runtime rt(with_key(std::getenv("TEST_NODES"), std::getenv("TEST_KEY")));
  std::printf("up %d\n", offload::sync(1, fn<&my_pid>));
  if (const char* const how = std::getenv("TEST_BUSY")) occupy(how);
  std::fflush(stdout);
  int which = 0;
  return ::sigwait(&leave, &which);
}
const scenario hosting("host", be_a_host);

/// What a tcp job does in common.
void expect_works(node_t target) {
  EXPECT_EQ(offload::sync(target, fn<&twice>, 21), 42);
  EXPECT_EQ(offload::sync(target, fn<&who>), target);
  EXPECT_EQ(offload::get_node_descriptor(target).transport(), "tcp");
  EXPECT_EQ(offload::sync(target, fn<&grown>, std::string(1000, 'x'), 5000), std::string(5'000'000, 'x'));
  EXPECT_EQ(offload::sync(target, fn<&countdown>, 6, node_t{0}), 6);
  EXPECT_THROW(offload::sync(target, fn<&complain>, "no"), std::domain_error);

  std::vector<offload::future<int>> many;
  for (int i = 0; i < 2000; ++i) many.push_back(offload::async(target, fn<&twice>, i));
  for (int i = 0; i < 2000; ++i) EXPECT_EQ(many[static_cast<std::size_t>(i)].get(), 2 * i);

  std::vector<double> here(300'000);
  std::iota(here.begin(), here.end(), 0.0);
  offload::buffer<double> there(target, here.size());
  offload::put_sync(here.data(), there.ptr(), here.size());
  std::vector<double> back(here.size());
  offload::get_sync(there.ptr(), back.data(), back.size());
  EXPECT_EQ(back, here);
  EXPECT_THROW(offload::put_sync(here.data(), there.ptr() + 1, here.size()), error);

  offload::context queue(target);
  auto one = offload::async(queue, fn<&twice>, 4);
  EXPECT_EQ(one.get(), 8);
  offload::batch calls(target);
  auto two = calls.add(fn<&twice>, 5);
  calls.submit();
  EXPECT_EQ(two.get(), 10);
}

std::string problem_of(const runtime_options& options) {
  try {
    const runtime rt(options);
  } catch (const config_error& problem) {
    return problem.what();
  }
  ADD_FAILURE() << options.nodes << " was reached";
  return {};
}

TEST(tcp_job, a_target_with_a_key) {
  const scratch_key key('a');
  server waiting(key.path());
  for (int job = 0; job < 3; ++job) {
    const runtime rt(with_key(waiting.nodes(), key.path()));
    expect_works(1);
  }
}

TEST(tcp_job, a_target_without_security) {
  ::setenv("HAM_TCP_SECURITY", "off", 1);
  server waiting("");
  {
    const runtime rt(nodes(waiting.nodes()));
    expect_works(1);
  }
  ::unsetenv("HAM_TCP_SECURITY");
}

TEST(tcp_job, ipv6) {
  const scratch_key key('6');
  std::optional<server> waiting;
  try {
    waiting.emplace(key.path(), 1, "[::1]:0");
  } catch (const error& problem) {
    GTEST_SKIP() << "no IPv6 here: " << problem.what();
  }
  const runtime rt(with_key(waiting->nodes(), key.path()));
  expect_works(1);
}

TEST(tcp_job, machines_mixed_and_every_node_calls_every_other) {
  const scratch_key key('b');
  server first(key.path());
  server second(key.path());
  const runtime rt(with_key("shm:1," + first.nodes() + "," + second.nodes() + ",shm:1", key.path()));
  ASSERT_EQ(rt.num_nodes(), 5U);
  for (node_t from = 0; from < 5; ++from) {
    for (node_t to = 0; to < 5; ++to) {
      EXPECT_EQ(offload::sync(from, fn<&ask>, to), to) << "from " << from;
    }
    EXPECT_EQ(offload::sync(from, fn<&how_many>), 5U);
  }
  EXPECT_EQ(offload::sync(1, fn<&countdown>, 20, node_t{2}), 20);

  std::vector<int> here(100'000, 7);
  offload::buffer<int> near(1, here.size());
  offload::buffer<int> far(2, here.size());
  offload::buffer<int> farther(3, here.size());
  offload::put_sync(here.data(), near.ptr(), here.size());
  offload::copy_sync(near.ptr(), far.ptr(), here.size());
  offload::copy_sync(far.ptr(), farther.ptr(), here.size());
  std::vector<int> back(here.size());
  offload::get_sync(farther.ptr(), back.data(), back.size());
  EXPECT_EQ(back, here);
  for (const auto& [via, to] : {std::pair<node_t, node_t>{2, 3}, {1, 2}, {3, 4}, {2, 0}}) expect_blocks_cross(via, to);
}

TEST(tcp_job, who_has_no_key_is_told_and_others_are_served) {
  const scratch_key key('c');
  const scratch_key other('d');
  server waiting(key.path());
  EXPECT_NE(problem_of(nodes(waiting.nodes())).find("--ham-key"), std::string::npos);
  EXPECT_NE(problem_of(with_key(waiting.nodes(), other.path())).find(waiting.nodes()), std::string::npos);
  ::setenv("HAM_TCP_SECURITY", "off", 1);
  EXPECT_NE(problem_of(nodes(waiting.nodes())).find(waiting.nodes()), std::string::npos);
  ::unsetenv("HAM_TCP_SECURITY");
  ::chmod(other.path().c_str(), 0644);
  EXPECT_NE(problem_of(with_key(waiting.nodes(), other.path())).find("chmod 600"), std::string::npos);
  EXPECT_NE(problem_of(with_key("tcp://127.0.0.1:1", key.path())).find("127.0.0.1:1"), std::string::npos);
  const runtime rt(with_key(waiting.nodes(), key.path()));
  EXPECT_EQ(offload::sync(1, fn<&twice>, 1), 2);
}

TEST(tcp_job, a_host_that_is_killed_leaves_the_server_to_the_next) {
  const scratch_key key('e');
  server waiting(key.path());
  for (int i = 0; i < rounds(5); ++i) {
    host_process host("host", {"TEST_NODES=" + waiting.nodes(), "TEST_KEY=" + key.path()});
    const std::vector<pid_t> target = parse_pids(host.line());
    ASSERT_EQ(target.size(), 1U);
    ::kill(host.pid(), SIGKILL);
    host.wait();
    EXPECT_TRUE(eventually([&] { return !alive(target.front()); })) << "the job's process ends with its host";
  }
  const runtime rt(with_key(waiting.nodes(), key.path()));
  EXPECT_EQ(offload::sync(1, fn<&twice>, 3), 6);
}

TEST(tcp_job, a_job_that_computes_for_ever_ends_with_its_host) {
  const scratch_key key('e');
  server waiting(key.path());
  for (const std::string how : {"call", "nested", "context", "exit"}) {
    for (const bool leaves : {false, true}) {
      SCOPED_TRACE(how + (leaves ? ", a host that leaves" : ", a host that is killed"));
      host_process host("host", {"TEST_NODES=" + waiting.nodes(), "TEST_KEY=" + key.path(), "TEST_BUSY=" + how});
      const std::vector<pid_t> target = parse_pids(host.line());
      ASSERT_EQ(target.size(), 1U);
      const bool begins_at_exit = how == "exit";
      if (!begins_at_exit) {
        ASSERT_EQ(waiting.process().line(), "begun");
      }
      ::kill(host.pid(), leaves ? SIGUSR1 : SIGKILL);
      host.wait();
      if (begins_at_exit) {
        ASSERT_EQ(waiting.process().line(), "begun");
      }
      EXPECT_TRUE(eventually([&] { return !alive(target.front()); })) << "it goes on without its host";
      EXPECT_NE(waiting.process().line().find("killed: 500 ms after its host"), std::string::npos);
    }
  }
  const runtime rt(with_key(waiting.nodes(), key.path()));
  EXPECT_EQ(offload::sync(1, fn<&twice>, 3), 6);
}

TEST(tcp_job, the_process_of_a_job_has_neither_the_servers_key_nor_its_socket) {
  if (sanitized()) GTEST_SKIP() << "memory that was freed is kept, and all of it is read";
  const scratch_key key('d');
  server waiting(key.path());
  const runtime rt(with_key(waiting.nodes(), key.path()));
  const int port = std::atoi(waiting.address().substr(waiting.address().rfind(':') + 1).c_str());
  EXPECT_FALSE(offload::sync(1, fn<&listens_at>, port));
  EXPECT_EQ(offload::sync(1, fn<&keys_in_memory>, static_cast<unsigned char>(~0xdd)), 0);
  EXPECT_GT(keys_in_memory(static_cast<unsigned char>(~0xdd)), 0) << "the host keeps it, for further targets";
}

TEST(tcp_job, a_target_that_is_killed_fails_its_calls_only) {
  const scratch_key key('f');
  server waiting(key.path(), 2);
  const runtime rt(with_key(waiting.nodes() + "*2", key.path()));
  ASSERT_EQ(rt.num_nodes(), 3U);
  const pid_t victim = offload::sync(1, fn<&my_pid>);
  const std::vector<char> bytes(1 << 20);
  offload::buffer<char> there(1, bytes.size());
  offload::put_sync(bytes.data(), there.ptr(), bytes.size());
  auto computing = offload::async(1, fn<&work_forever>);
  auto queued = offload::async(1, fn<&twice>, 1);
  EXPECT_FALSE(computing.wait_for(20ms));
  ::kill(victim, SIGKILL);
  try {
    computing.get();
    ADD_FAILURE();
  } catch (const node_failure& failure) {
    EXPECT_EQ(failure.node(), 1);
    EXPECT_EQ(failure.pid(), victim);
  }
  EXPECT_THROW((void)queued.get(), node_failure);
  EXPECT_THROW((void)offload::sync(1, fn<&twice>, 1), node_failure);
  EXPECT_THROW(offload::put_sync(bytes.data(), there.ptr(), bytes.size()), node_failure);
  EXPECT_EQ(offload::sync(2, fn<&twice>, 2), 4);
  // The server has room for another job again.
  const node_t again = offload::add_node(waiting.nodes());
  EXPECT_EQ(again, 3);
  EXPECT_EQ(offload::sync(again, fn<&twice>, 5), 10);
}

TEST(tcp_job, a_stopped_target_meets_deadlines_and_goes_on) {
  const scratch_key key('1');
  server waiting(key.path());
  const runtime rt(with_key(waiting.nodes(), key.path()));
  const pid_t pid = offload::sync(1, fn<&my_pid>);
  EXPECT_EQ(offload::sync(1, fn<&count>), 1);
  ::kill(pid, SIGSTOP);
  // Never too early; at most 10 % too late, unless the machine has no time for this process, which passes.
  int calls = 1;
  auto best = 1h + 0ns;
  for (int attempts = 0; attempts < 100 && best > 220ms; ++attempts) {
    const auto before = std::chrono::steady_clock::now();
    EXPECT_THROW((void)offload::sync(offload::within(1, 200ms), fn<&count>), deadline_exceeded);
    const auto taken = std::chrono::steady_clock::now() - before;
    ++calls;
    EXPECT_GE(taken, 200ms);
    best = std::min<decltype(best)>(best, taken);
  }
  EXPECT_LE(best, 220ms);
  ::kill(pid, SIGCONT);
  EXPECT_LE(offload::sync(1, fn<&count>), calls + 1) << "late calls were taken out, or their replies were dropped";
}

TEST(tcp_job, a_server_that_is_full_says_so_at_once) {
  const scratch_key key('6');
  server waiting(key.path(), 2);
  std::optional<runtime> first(with_key(waiting.nodes(), key.path()));
  const runtime second(with_key(waiting.nodes(), key.path()));
  const auto before = std::chrono::steady_clock::now();
  try {
    const runtime third(with_key(waiting.nodes(), key.path()));
    ADD_FAILURE() << "three jobs at once, of two";
  } catch (const config_error& refused) {
    EXPECT_NE(std::string(refused.what()).find("--ham-jobs"), std::string::npos) << refused.what();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - before, 9s) << "not for want of an answer";
  first.reset();
  const runtime fourth(with_key(waiting.nodes(), key.path()));
  EXPECT_EQ(offload::sync(1, fn<&twice>, 4), 8);
}

TEST(tcp_job, nodes_come_and_go) {
  const scratch_key key('2');
  server waiting(key.path());
  const runtime rt(with_key("shm:1", key.path()));
  EXPECT_EQ(offload::add_node("shm:2"), 2);
  EXPECT_EQ(offload::add_node(waiting.nodes()), 4);
  EXPECT_EQ(offload::add_node("exec:/proc/self/exe"), 5);
  EXPECT_EQ(offload::num_nodes(), 6U);
  for (node_t node = 1; node < 6; ++node) {
    EXPECT_EQ(offload::sync(node, fn<&how_many>), 6U);
    EXPECT_EQ(offload::sync(1, fn<&ask>, node), node);
    EXPECT_EQ(offload::sync(4, fn<&ask>, node), node);
  }
  auto computing = offload::async(2, fn<&work_forever>);
  const pid_t busy = static_cast<pid_t>(offload::get_node_descriptor(2).pid());
  offload::remove_node(2);
  EXPECT_THROW(computing.get(), node_failure);
  EXPECT_THROW((void)offload::sync(2, fn<&twice>, 1), node_failure);
  EXPECT_TRUE(eventually([&] { return !alive(busy); })) << "busy or not";
  offload::remove_node(4);
  EXPECT_EQ(offload::sync(3, fn<&twice>, 1), 2);
  EXPECT_EQ(offload::add_node(waiting.nodes()), 6) << "the server waits for a host again";
  EXPECT_EQ(offload::sync(6, fn<&ask>, 3), 3);

  EXPECT_THROW(offload::remove_node(0), config_error);
  EXPECT_THROW(offload::remove_node(99), call_error);
  EXPECT_THROW((void)offload::add_node("nonsense:1"), config_error);
  EXPECT_THROW((void)offload::add_node("exec:/nowhere/at/all"), config_error);
  EXPECT_THROW(offload::sync(3, [] { (void)offload::add_node("shm:1"); }), config_error);
  EXPECT_EQ(offload::sync(5, fn<&twice>, 6), 12);
}

std::size_t descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

std::size_t resident_kib() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("VmRSS:")) return static_cast<std::size_t>(std::atol(line.c_str() + 6));
  }
  return 0;
}

void come_and_go(const std::string& who, int times) {
  std::vector<char> data(100'000, 'x');
  for (int i = 0; i < times; ++i) {
    const node_t one = offload::add_node(who);
    EXPECT_EQ(offload::sync(one, fn<&my_length>, std::string(50'000, 'x')), 50'000U);
    const offload::buffer<char> there(one, data.size());
    offload::put_sync(data.data(), there.ptr(), data.size());
    offload::remove_node(one);
  }
}

TEST(tcp_job, nodes_that_come_and_go_leave_nothing_behind) {
  if (sanitized()) GTEST_SKIP() << "memory is measured";
  const scratch_key key('3');
  server waiting(key.path(), 4);
  const runtime rt(with_key("shm:1", key.path()));
  come_and_go(waiting.nodes(), 5);
  const std::size_t fds = descriptors();
  const std::size_t memory = resident_kib();
  const int times = rounds(20);
  come_and_go(waiting.nodes(), times);
  EXPECT_TRUE(eventually([&] { return descriptors() <= fds + 2; })) << fds << " to " << descriptors();
  // A connection uses several hundred KiB while it stands.
  EXPECT_LT(resident_kib(), memory + 50 * static_cast<std::size_t>(times) + 2048) << memory << " KiB before";
}

TEST(tcp_job, serving_needs_a_key_or_a_loopback_address) {
  const auto refusal = [](const std::vector<std::string>& environment) {
    host_process process("serve", environment);
    return process.line();
  };
  EXPECT_NE(refusal({"TEST_SERVE=127.0.0.1:0"}).find("--ham-make-key"), std::string::npos);
  EXPECT_NE(refusal({"TEST_SERVE=0.0.0.0:0", "HAM_TCP_SECURITY=off"}).find("refused"), std::string::npos);
  EXPECT_NE(refusal({"TEST_SERVE=127.0.0.1:0", "TEST_KEY=/nowhere"}).find("/nowhere"), std::string::npos);
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) const runtime target(runtime_options{});  // does not come back
  return run(argc, argv);
}
