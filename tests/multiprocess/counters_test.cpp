// What other processes read of the counters of a job: of targets that compute, sleep, are replaced, or are seen by the
// host alone.
// link: ham::ham
// timeout: 300
#include "support.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/unique_fd.hpp"
#include "ham/offload/counters.hpp"
#include "runtime/prometheus_text.hpp"

using namespace ham;
using namespace ham::test;

namespace {

using activity = node_counters::activity;

pid_t my_pid() { return ::getpid(); }
int counted(int value) { return value; }
void spend(buffer_ptr<int> until) {
  while (__atomic_load_n(until.get(), __ATOMIC_ACQUIRE) == 0) {
  }
}

node_counters node_of(const job_counters& job, node_t number) {
  for (const node_counters& one : job.nodes)
    if (one.number == number && one.now != activity::gone) return one;
  return {};
}
job_counters job_of_this() {
  const auto jobs = read_counters(::getpid());
  EXPECT_EQ(jobs.size(), 1U);
  return jobs.at(0);
}

TEST(counters, of_targets_are_their_own) {
  runtime rt(nodes("shm:2"));
  const pid_t one = offload::sync(1, fn<&my_pid>);
  const node_counters before = node_of(job_of_this(), 1);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(offload::sync(1, fn<&counted>, i), i);
  EXPECT_TRUE(eventually([&] { return node_of(job_of_this(), 1).executed == before.executed + 50; }));
  const node_counters now = node_of(job_of_this(), 1);
  EXPECT_EQ(now.pid, one);
  EXPECT_FALSE(now.seen_by_host);
  EXPECT_EQ(now.transport, "shm");
  EXPECT_EQ(now.all.calls_received, before.all.calls_received + 50);
  EXPECT_GT(now.rss_bytes, 1'000'000U);
  EXPECT_NE(now.rss_bytes, node_of(job_of_this(), 0).rss_bytes) << "of another process";
}

TEST(counters, tell_who_computes_and_who_sleeps) {
  runtime rt(nodes("shm:2"));
  offload::buffer<int> until(1, 1);
  const int zero = 0;
  const int one = 1;
  offload::put_sync(&zero, until.ptr(), 1);
  auto computing = offload::async(1, fn<&spend>, until.ptr());
  EXPECT_TRUE(eventually([] { return node_of(job_of_this(), 1).now == activity::busy; }));
  EXPECT_TRUE(eventually([] { return node_of(job_of_this(), 2).now == activity::asleep; }));
  EXPECT_TRUE(eventually([] { return node_of(job_of_this(), 0).now == activity::away; })) << "the host does not wait";
  offload::put_sync(&one, until.ptr(), 1);
  computing.get();
  EXPECT_TRUE(eventually([] { return node_of(job_of_this(), 1).now == activity::asleep; }));
  EXPECT_GT(node_of(job_of_this(), 1).sleeps, 0U);
}

TEST(counters, of_a_job_are_found_by_any_of_its_processes) {
  runtime rt(nodes("shm:1,emulated:1"));
  for (const node_t node : {1, 2}) {
    const auto jobs = read_counters(offload::sync(node, fn<&my_pid>));
    ASSERT_EQ(jobs.size(), 1U);
    EXPECT_EQ(jobs[0].pid, ::getpid());
    EXPECT_EQ(jobs[0].nodes.size(), 3U);
    EXPECT_FALSE(node_of(jobs[0], node).seen_by_host);
  }
}

TEST(counters, of_a_target_that_dies_end_with_it) {
  runtime rt(nodes("shm:1"));
  ::kill(offload::sync(1, fn<&my_pid>), SIGKILL);
  EXPECT_TRUE(eventually([] { return !offload::alive(1); }));
  // The kernel closes the files of a process one after the other: the host may see its end before those counters go.
  EXPECT_TRUE(eventually([] { return node_of(job_of_this(), 1).seen_by_host; })) << "its own go with it";
  const job_counters job = job_of_this();
  ASSERT_EQ(job.nodes.size(), 2U);
  EXPECT_EQ(job.nodes[1].now, activity::gone);
  EXPECT_GT(job.nodes[1].all.calls_received, 0U);
}

TEST(counters, have_the_restarts_of_a_number) {
  runtime rt(nodes("shm:1"));
  offload::supervise(1);
  const pid_t first = offload::sync(1, fn<&my_pid>);
  ::kill(first, SIGKILL);
  const auto other = [&] {
    try {
      return offload::sync(1, fn<&my_pid>) != first;
    } catch (const node_failure&) {  // it was sent before the death was noticed
      return false;
    }
  };
  EXPECT_TRUE(eventually(other));
  const node_counters now = node_of(job_of_this(), 1);
  EXPECT_EQ(now.restarts, 1U);
  EXPECT_NE(now.node, 1) << "the process has a number of its own";
}

TEST(counters, of_a_forked_child_are_nobodys) {
  runtime rt(nodes("shm:1"));
  const std::uint64_t before = node_of(job_of_this(), 0).all.calls_sent;
  const pid_t child = ::fork();
  if (child == 0) {
    bool none = false;
    try {
      static_cast<void>(read_counters(::getpid()));
    } catch (const config_error&) {
      none = true;
    }
    ::_exit(none ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(node_of(job_of_this(), 0).all.calls_sent, before);
}

// ---- Prometheus

std::uint16_t free_port() {
  const base::unique_fd made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  EXPECT_EQ(::bind(made.get(), reinterpret_cast<const sockaddr*>(&at), size), 0);
  EXPECT_EQ(::getsockname(made.get(), reinterpret_cast<sockaddr*>(&at), &size), 0);
  return ntohs(at.sin_port);
}

std::string fetch_metrics(std::uint16_t port) {
  const base::unique_fd to(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(to.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0) return {};
  const std::string request = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
  EXPECT_EQ(::send(to.get(), request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
  std::string all;
  char piece[4096];
  for (ssize_t count = 0; (count = ::recv(to.get(), piece, sizeof piece, 0)) > 0;)
    all.append(piece, static_cast<std::size_t>(count));
  return all;
}

TEST(counters, are_served_in_the_format_of_prometheus) {
  runtime_options options = nodes("shm:1");
  options.metrics = free_port();
  {
    runtime rt(options);
    for (int i = 0; i < 20; ++i) EXPECT_EQ(offload::sync(1, fn<&counted>, i), i);
    const std::string answer = fetch_metrics(static_cast<std::uint16_t>(options.metrics));
    ASSERT_NE(answer.find("200 OK"), std::string::npos) << answer;
    const prometheus_text read(answer.substr(answer.find("\r\n\r\n") + 4));
    const auto received = read.find("ham_calls_received_total", {{"node", "1"}});
    ASSERT_EQ(received.size(), 1U);
    EXPECT_GE(received[0].value, 20);
    EXPECT_EQ(received[0].labels.at("job_pid"), std::to_string(::getpid()));
    EXPECT_EQ(read.find("ham_execution_seconds_count").size(), 2U);
    EXPECT_EQ(read.find("ham_node_state", {{"node", "1"}}).size(), 4U);
  }
  EXPECT_EQ(fetch_metrics(static_cast<std::uint16_t>(options.metrics)), "") << "it ends with its job";
}

// ---- ham-top

std::string output_of(const std::string& command) {
  FILE* const out = ::popen(command.c_str(), "r");
  std::string text(1 << 16, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), out));
  EXPECT_EQ(::pclose(out), 0) << text;
  return text;
}

TEST(counters, the_tool_shows_them) {
  const char* const tool = std::getenv("HAM_TEST_TOP");
  if (tool == nullptr) GTEST_SKIP() << "HAM_TEST_TOP does not say where ham-top is";
  runtime rt(nodes("shm:2"));
  const pid_t two = offload::sync(2, fn<&my_pid>);
  const std::string once = std::string(tool) + " --once -i 0.1 ";
  const std::string text = output_of(once + std::to_string(two));
  EXPECT_EQ(text.find("job " + std::to_string(::getpid()) + "  "), 0U) << text;
  EXPECT_NE(text.find("  3 nodes\n"), std::string::npos) << text;
  EXPECT_NE(text.find(" " + std::to_string(two) + "  asleep"), std::string::npos) << text;
  const std::string filtered = output_of(once + "-n 2 " + std::to_string(two));
  EXPECT_NE(filtered.find("  1 node\n"), std::string::npos) << filtered;
}

}  // namespace

int main(int argc, char** argv) { return ham::test::run(argc, argv); }
