// How processes have ended, seen by others than their parents, and the counters of out-of-memory kills.
#include "base/process_end.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

namespace {

using namespace std::chrono_literals;
using ham::base::confirms_end;
using ham::base::end_of;
using ham::base::process_is_there;

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

TEST(processes, are_there_or_not) {
  EXPECT_TRUE(process_is_there(::getpid()));
  for (const std::int64_t none : {std::int64_t{0}, std::int64_t{-1}, INT64_MAX, std::int64_t{INT32_MAX}, INT64_MIN})
    EXPECT_FALSE(process_is_there(none)) << none;
}

TEST(confirmed_end, of_a_process_that_was_killed_or_has_gone) {
  const child killed([] { ::pause(); });
  ::kill(killed.pid(), SIGKILL);
  EXPECT_TRUE(confirms_end(killed.pid(), 20s));
  pid_t gone = 0;
  {
    const child one([] {});
    gone = one.pid();
  }
  EXPECT_TRUE(confirms_end(gone, 0s)) << "reaped";
}

TEST(confirmed_end, of_none_that_lives) {
  const child living([] { ::pause(); });
  EXPECT_FALSE(confirms_end(living.pid(), 20ms));
  EXPECT_FALSE(confirms_end(::getpid(), 0s));
  for (const pid_t nobody : {0, -1}) EXPECT_FALSE(confirms_end(nobody, 0s)) << nobody;
}

TEST(confirmed_end, of_none_whose_first_thread_has_ended) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "sanitizers do not support that in a forked child";
#endif
  const child goes_on([] {
    std::thread([] {
      for (;;) ::pause();
    }).detach();
    ::syscall(SYS_exit, 0);
  });
  std::this_thread::sleep_for(50ms);
  EXPECT_FALSE(confirms_end(goes_on.pid(), 50ms));
  ::kill(goes_on.pid(), SIGKILL);
  EXPECT_TRUE(confirms_end(goes_on.pid(), 20s));
}
