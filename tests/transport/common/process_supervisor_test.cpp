// One supervisor for all processes: real ones start, end by themselves or by force, and leave nothing behind.
#include "transport/common/process_supervisor.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/clock.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::transport {
namespace {

using namespace std::chrono_literals;
using kind = process_supervisor::event::kind;

base::process_request program(std::vector<std::string> command) {
  base::process_request what;
  what.command = std::move(command);
  return what;
}
base::process_request shell(const std::string& script) { return program({"/bin/sh", "-c", script}); }

/// Neither running nor a zombie of ours.
bool is_gone(std::int64_t pid) {
  return ::waitpid(static_cast<pid_t>(pid), nullptr, WNOHANG) < 0 && errno == ECHILD &&
         ::kill(static_cast<pid_t>(pid), 0) < 0 && errno == ESRCH;
}

class supervisors : public testing::Test {
 protected:
  /// The next thing that happens, waiting as its users do.
  [[nodiscard]] process_supervisor::event next() {
    for (;;) {
      if (queue_.empty()) queue_ = supervisor_.turn();
      if (!queue_.empty()) {
        process_supervisor::event first = queue_.front();
        queue_.erase(queue_.begin());
        return first;
      }
      const std::int64_t until = supervisor_.next_ns();
      const std::int64_t left_ns = std::max<std::int64_t>(0, until == base::never_ns ? 0 : until - base::now_ns());
      pollfd waiting{supervisor_.fd(), POLLIN, 0};
      ::poll(&waiting, 1, until == base::never_ns ? -1 : static_cast<int>(left_ns / 1'000'000 + 1));
    }
  }

  process_supervisor supervisor_;
  std::vector<process_supervisor::event> queue_;
};

TEST_F(supervisors, have_nothing_to_do_at_first) {
  EXPECT_TRUE(supervisor_.empty());
  EXPECT_EQ(supervisor_.next_ns(), base::never_ns);
  EXPECT_TRUE(supervisor_.turn().empty());
  EXPECT_EQ(supervisor_.pid(1), -1);
}

TEST_F(supervisors, tell_how_a_process_has_ended) {
  supervisor_.start(5, shell("exit 3"));
  const std::int64_t pid = supervisor_.pid(5);
  EXPECT_GT(pid, 0);
  const auto end = next();
  EXPECT_EQ(end.what, kind::ended);
  EXPECT_EQ(end.who, 5);
  EXPECT_EQ(end.how, "exited with status 3");
  EXPECT_FALSE(supervisor_.runs(5));
  EXPECT_EQ(supervisor_.pid(5), pid) << "who asks late is told";
  EXPECT_TRUE(is_gone(pid));
  EXPECT_TRUE(supervisor_.turn().empty()) << "told once";
}

TEST_F(supervisors, tell_the_signal) {
  supervisor_.start(1, shell("kill -SEGV $$"));
  EXPECT_EQ(next().how.substr(0, 27), "was killed by signal 11 (Se");
}

TEST_F(supervisors, kill_whose_time_is_over) {
  supervisor_.start(1, shell("trap '' TERM; exec sleep 100"));
  supervisor_.start(2, shell("exec sleep 100"));
  const std::int64_t pid = supervisor_.pid(1);
  EXPECT_EQ(supervisor_.next_ns(), base::never_ns);
  supervisor_.kill_at(1, base::now_ns() + 20'000'000);
  EXPECT_NE(supervisor_.next_ns(), base::never_ns);
  const auto killed = next();
  EXPECT_EQ(killed.what, kind::killed);
  EXPECT_EQ(killed.who, 1);
  const auto end = next();
  EXPECT_EQ(end.what, kind::ended);
  EXPECT_EQ(end.who, 1);
  EXPECT_EQ(end.how, "was killed by signal 9 (Killed)");
  EXPECT_TRUE(is_gone(pid));
  EXPECT_TRUE(supervisor_.runs(2));
}

TEST_F(supervisors, may_change_their_mind) {
  supervisor_.start(1, shell("exec sleep 100"));
  supervisor_.kill_at(1, base::now_ns());
  supervisor_.kill_at(1, base::never_ns);
  EXPECT_TRUE(supervisor_.turn().empty());
  EXPECT_TRUE(supervisor_.runs(1));
  supervisor_.kill_at(77, 0);
}

TEST_F(supervisors, wait_for_one) {
  supervisor_.start(1, shell("exit 0"));
  supervisor_.start(2, shell("exec sleep 100"));
  EXPECT_EQ(supervisor_.wait(1, 20s), "exited with status 0");
  EXPECT_EQ(supervisor_.wait(2, 1ms), "");
  EXPECT_EQ(supervisor_.wait(3, 20s), "");
  EXPECT_TRUE(supervisor_.turn().empty()) << "who has waited knows";
}

TEST_F(supervisors, use_a_name_again) {
  supervisor_.start(1, shell("exit 1"));
  EXPECT_EQ(next().how, "exited with status 1");
  supervisor_.start(1, shell("exit 2"));
  EXPECT_EQ(next().how, "exited with status 2");
}

TEST_F(supervisors, leave_nothing_behind) {
  std::vector<std::int64_t> pids;
  for (int i = 0; i < 5; ++i) {
    supervisor_.start(i, shell(i % 2 == 0 ? "exec sleep 100" : "exit 0"));
    pids.push_back(supervisor_.pid(i));
  }
  supervisor_.stop(50ms);
  EXPECT_TRUE(supervisor_.empty());
  for (const std::int64_t pid : pids) EXPECT_TRUE(is_gone(pid));
}

TEST_F(supervisors, wait_at_the_end_for_who_goes_by_itself) {
  supervisor_.start(1, shell("exit 0"));
  supervisor_.stop(20s);
  EXPECT_TRUE(supervisor_.empty());
}

TEST_F(supervisors, are_of_no_concern_to_a_fork) {
  supervisor_.start(1, shell("exec sleep 100"));
  const pid_t fork = ::fork();
  if (fork == 0) {
    supervisor_.detach_after_fork();
    supervisor_.stop(0ms);
    ::_exit(supervisor_.empty() ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(::waitpid(fork, &status, 0), fork);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(supervisor_.wait(1, 1ms), "") << "it runs";
  ASSERT_EQ(::kill(static_cast<pid_t>(supervisor_.pid(1)), SIGKILL), 0);
  EXPECT_EQ(next().who, 1) << "and its end is seen";
}

TEST_F(supervisors, say_what_cannot_be_started) {
  EXPECT_THROW(supervisor_.start(1, program({"/no/such/program"})), config_error);
  EXPECT_FALSE(supervisor_.runs(1));
  EXPECT_EQ(supervisor_.pid(1), -1);
}

/// One that a library runs somewhere: no descriptor, no child.
class remote_process final : public supervised_process {
 public:
  struct state {
    bool ended = false;
    int kills = 0;
  };
  explicit remote_process(state& of) : state_(of) {}
  [[nodiscard]] std::int64_t pid() const noexcept override { return 0; }
  [[nodiscard]] int end_fd() const noexcept override { return -1; }
  [[nodiscard]] std::string wait_for_end(std::chrono::milliseconds) override { return state_.ended ? "has ended" : ""; }
  void kill() noexcept override {
    ++state_.kills;
    state_.ended = true;
  }

 private:
  state& state_;
};

TEST_F(supervisors, ask_those_that_have_no_descriptor) {
  remote_process::state first;
  remote_process::state second;
  supervisor_.adopt(1, std::make_unique<remote_process>(first));
  supervisor_.adopt(2, std::make_unique<remote_process>(second));
  EXPECT_NE(supervisor_.next_ns(), base::never_ns);
  EXPECT_TRUE(supervisor_.turn().empty());
  first.ended = true;
  const auto end = next();
  EXPECT_EQ(end.who, 1);
  EXPECT_EQ(end.how, "has ended");
  supervisor_.stop(0ms);
  EXPECT_EQ(second.kills, 1);
  EXPECT_EQ(first.kills, 0);
}

}  // namespace
}  // namespace ham::transport
