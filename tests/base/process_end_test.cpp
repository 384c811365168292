// How processes have ended, seen by others than their parents, and the counters of out-of-memory kills.
#include "base/process_end.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;
using ham::base::counter_in;
using ham::base::end_of;

/// A child that ends as `how` says; reaped with this object.
class child {
 public:
  template <class How>
  explicit child(How how) : pid_(::fork()) {
    if (pid_ != 0) return;
    how();
    ::_exit(0);
  }
  ~child() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  child(const child&) = delete;
  child& operator=(const child&) = delete;
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

}  // namespace

TEST(end_of_a_process, by_a_signal) {
  const child one([] { ::raise(SIGKILL); });
  EXPECT_EQ(end_of(one.pid(), 20s), "was killed by signal 9 (Killed)");
}

TEST(end_of_a_process, with_a_status) {
  const child three([] { ::_exit(3); });
  EXPECT_EQ(end_of(three.pid(), 20s), "exited with status 3");
  const child none([] {});
  siginfo_t ignored{};
  ::waitid(P_PID, static_cast<id_t>(none.pid()), &ignored, WEXITED | WNOWAIT);
  EXPECT_EQ(end_of(none.pid(), 20s), "exited with status 0");
}

TEST(end_of_a_process, is_not_known_while_it_lives) {
  const child living([] { ::pause(); });
  EXPECT_EQ(end_of(living.pid(), 1ms), "");
}

TEST(counters, of_control_groups_and_the_machine) {
  EXPECT_EQ(counter_in("low 0\nhigh 0\nmax 17\noom 2\noom_kill 3\noom_group_kill 0\n", "oom_kill"), 3U);
  EXPECT_EQ(counter_in("oom_kill_disable 0\nunder_oom 0\noom_kill 5\n", "oom_kill"), 5U);
  EXPECT_EQ(counter_in("", "oom_kill"), 0U);
  EXPECT_EQ(counter_in("oom_kill", "oom_kill"), 0U);
}
