// Targets as processes: they join or do not, end or are ended, and their host is told once, with the reason.
#include "transport/common/target_supervisor.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <future>
#include <optional>
#include <thread>

#include "base/own_program.hpp"
#include "transport/common/joining.hpp"

namespace ham::inline v1::transport {
namespace {

using namespace std::chrono_literals;
using child_end = target_supervisor::child_end;

struct told_end {
  node_t node = -1;
  std::string reason;
  child_end how = child_end::exited;
};

/// What the host is told of one child.
class told_host {
 public:
  [[nodiscard]] target_supervisor::end_handler handler() {
    return [this](node_t node, const std::string& reason, child_end how) {
      ++times_;
      if (times_ == 1) first_.set_value({node, reason, how});
    };
  }
  [[nodiscard]] told_end wait() {
    auto future = first_.get_future();
    if (future.wait_for(60s) != std::future_status::ready) return {};
    return future.get();
  }
  [[nodiscard]] int times() const noexcept { return times_; }

 private:
  std::promise<told_end> first_;
  std::atomic<int> times_{0};
};

target_supervisor::plan shell_target(const std::string& script, node_t node = 1) {
  return {node, {"/bin/sh", "-c", script}, {}};
}

/// This test once more, in a process of its own; HAM_TARGET tells it that it is one.
target_supervisor::plan this_test(node_t node) {
  const auto* const test = testing::UnitTest::GetInstance()->current_test_info();
  return {node,
          {base::own_program(), std::string("--gtest_filter=") + test->test_suite_name() + "." + test->name(),
           "--gtest_brief=1"},
          {},
          {},
          {"GTEST_TOTAL_SHARDS=1", "GTEST_SHARD_INDEX=0"}};  // all of it
}

/// The control socket of such a process, once it has the welcome that it expects; else -1.
int welcomed(std::string_view told, std::string_view expected) {
  constexpr std::string_view transport = "testing:";
  if (!told.starts_with(transport)) return -1;
  const int control = control_fd_of(told.substr(transport.size()));
  const base::control_message welcome = receive_welcome_of_own_user(control);
  const std::string_view text(reinterpret_cast<const char*>(welcome.bytes.data()), welcome.bytes.size());
  return text == expected && welcome.fds.size() == 1 ? control : -1;
}

void say_joined(int control) { base::send_control(control, std::as_bytes(std::span(target_supervisor::joined)), {}); }

/// Until the host hangs up.
void wait_for_host(int control) {
  bool closed = false;
  while (!closed) static_cast<void>(base::receive_control(control, true, closed));
}

bool has_ended(std::int64_t pid) { return ::kill(static_cast<pid_t>(pid), 0) < 0 && errno == ESRCH; }

void start(target_supervisor& by, const target_supervisor::plan& what) {
  constexpr std::string_view welcome = "welcome";
  const int fds[] = {STDERR_FILENO};
  by.start(what, std::as_bytes(std::span(welcome)), fds);
}

TEST(target_supervisor, tells_how_a_process_ended_that_did_not_join) {
  told_host host;
  target_supervisor supervisor("testing", host.handler());
  start(supervisor, shell_target("exit 3", 7));
  const told_end end = host.wait();
  EXPECT_EQ(end.node, 7);
  EXPECT_EQ(end.how, child_end::exited);
  EXPECT_EQ(end.reason,
            "its process '/bin/sh -c exit 3' exited with status 3 before it joined; what it wrote may say why. It must "
            "be a build of this application with HAM");
  supervisor.stop();
  EXPECT_EQ(host.times(), 1);
}

TEST(target_supervisor, hands_on_the_last_words_of_a_target_that_declines) {
  if (const char* const told = std::getenv("HAM_TARGET")) {
    const int control = welcomed(told, "welcome");
    EXPECT_THROW(decline(control, "it is another release; build it again"), config_error);
    ::_exit(control < 0 ? 2 : 1);
  }
  told_host host;
  target_supervisor supervisor("testing", host.handler());
  start(supervisor, this_test(1));
  const told_end end = host.wait();
  EXPECT_EQ(end.reason, "it did not join: it is another release; build it again");
}

TEST(target_supervisor, tells_of_a_joined_target_how_its_process_ended) {
  if (const char* const told = std::getenv("HAM_TARGET")) {
    const int control = welcomed(told, "welcome");
    say_joined(control);
    ::_exit(5);
  }
  told_host host;
  target_supervisor supervisor("testing", host.handler());
  start(supervisor, this_test(2));
  const told_end end = host.wait();
  EXPECT_EQ(end.node, 2);
  EXPECT_EQ(end.how, child_end::exited);
  EXPECT_EQ(end.reason, "its process exited with status 5");
}

TEST(target_supervisor, a_target_that_hangs_up_is_one_no_more) {
  if (const char* const told = std::getenv("HAM_TARGET")) {
    const int control = welcomed(told, "welcome");
    say_joined(control);
    ::close(control);
    ::pause();
  }
  told_host host;
  target_supervisor supervisor("testing", host.handler());
  start(supervisor, this_test(1));
  const std::int64_t pid = supervisor.pid(1);
  const told_end end = host.wait();
  EXPECT_EQ(end.how, child_end::disconnected);
  EXPECT_EQ(end.reason, "its process closed the connection");
  supervisor.stop();
  EXPECT_TRUE(has_ended(pid));
  EXPECT_EQ(host.times(), 1) << "its end is no news";
}

TEST(target_supervisor, a_target_that_sends_descriptors_is_ended) {
  if (const char* const told = std::getenv("HAM_TARGET")) {
    const int control = welcomed(told, "welcome");
    say_joined(control);
    const int fds[] = {STDERR_FILENO};
    base::send_control(control, std::as_bytes(std::span(target_supervisor::joined)), fds);
    ::pause();
  }
  told_host host;
  target_supervisor supervisor("testing", host.handler());
  start(supervisor, this_test(1));
  const std::int64_t pid = supervisor.pid(1);
  const told_end end = host.wait();
  EXPECT_EQ(end.how, child_end::disconnected);
  EXPECT_EQ(end.reason, "its process sent descriptors to its host, which no target does, and was ended");
  for (int i = 0; i < 20'000 && !has_ended(pid); ++i) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(has_ended(pid));
  supervisor.stop();
  EXPECT_EQ(host.times(), 1) << "its end is no news";
}

/// The second one ends when the first one has hung up.
TEST(target_supervisor, does_not_wait_for_who_hangs_up_without_having_joined) {
  std::string folder = testing::TempDir() + "hung_up.XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const std::string gate = folder + "/gate";
  ASSERT_EQ(::mkfifo(gate.c_str(), 0600), 0);
  node_t first = 1;
  for (int round = 0; round < 5 && first != 2; ++round) {  // on a busy machine ends take longer than that is waited for
    told_host host;
    target_supervisor supervisor("testing", host.handler());
    start(supervisor, shell_target("read line < " + gate + "; exit 3", 2));
    start(supervisor,
          shell_target("eval \"exec ${HAM_TARGET#testing:}>&-\"; echo now > " + gate + "; exec sleep 1000", 1));
    first = host.wait().node;
  }
  EXPECT_EQ(first, 2);
  ::unlink(gate.c_str());
  ::rmdir(folder.c_str());
}

TEST(target_supervisor, a_target_that_hangs_up_and_never_joins_is_told) {
  told_host host;
  target_supervisor supervisor("testing", host.handler());
  start(supervisor, shell_target("eval \"exec ${HAM_TARGET#testing:}>&-\"; exec sleep 1000"));
  const told_end end = host.wait();
  EXPECT_EQ(end.how, child_end::disconnected);
  EXPECT_NE(end.reason.find("closed the connection"), std::string::npos) << end.reason;
  supervisor.stop();
  EXPECT_EQ(host.times(), 1);
}

TEST(target_supervisor, targets_end_with_their_host) {
  if (const char* const told = std::getenv("HAM_TARGET")) {
    const int control = welcomed(told, "welcome");
    say_joined(control);
    wait_for_host(control);
    ::_exit(0);
  }
  told_host host;
  std::optional<target_supervisor> supervisor(std::in_place, "testing", host.handler());
  start(*supervisor, this_test(1));
  start(*supervisor, shell_target("trap '' TERM; exec sleep 1000", 2));
  const std::int64_t pids[] = {supervisor->pid(1), supervisor->pid(2)};
  EXPECT_GT(pids[0], 0);
  EXPECT_GT(pids[1], 0);
  supervisor.reset();
  for (const std::int64_t pid : pids) EXPECT_TRUE(has_ended(pid));
  EXPECT_EQ(host.times(), 0) << "a host that ends does not lose its targets";
}

TEST(target_supervisor, ends_who_was_told_to_end_and_does_not) {
  told_host host;
  target_supervisor supervisor("testing", host.handler());
  start(supervisor, shell_target("trap '' TERM; exec sleep 1000"));
  const std::int64_t pid = supervisor.pid(1);
  supervisor.end(1, 1ms);
  const told_end end = host.wait();
  EXPECT_EQ(end.how, child_end::exited);
  EXPECT_NE(end.reason.find("was killed by signal 9"), std::string::npos) << end.reason;
  EXPECT_TRUE(has_ended(pid));
  supervisor.end(1, 1ms);
  supervisor.end(77, 1ms);
}

TEST(target_supervisor, says_what_cannot_be_started) {
  told_host host;
  target_supervisor supervisor("testing", host.handler());
  EXPECT_EQ(supervisor.pid(1), -1);
  EXPECT_THROW(start(supervisor, {1, {"/no/such/program"}, {}}), config_error);
  EXPECT_EQ(supervisor.pid(1), -1);
  start(supervisor, shell_target("exit 0"));
  EXPECT_EQ(host.wait().node, 1) << "the number was free";
}

TEST(target_supervisor, starts_nothing_once_it_has_stopped) {
  told_host host;
  target_supervisor supervisor("testing", host.handler());
  supervisor.stop();
  supervisor.stop();
  try {
    start(supervisor, shell_target("exit 0"));
    ADD_FAILURE() << "it was started";
  } catch (const config_error& refused) {
    EXPECT_STREQ(refused.what(), "this host is about to end; it starts no targets any more");
  }
}

}  // namespace
}  // namespace ham::transport
