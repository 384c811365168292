// Kernels that crash or throw: the process goes on, and knows what happened. Each test has a process of its own,
// because a guard takes signals over.
#include "mpix/guard.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>

#include "mpix/kernel.hpp"

namespace ham::inline v1::mpix {
namespace {

TEST(guard, signals_have_a_text_for_people) {
  std::set<std::string> texts;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    const std::string text = signal_text(signal);
    EXPECT_EQ(text.substr(0, 3), "SIG");
    EXPECT_TRUE(texts.insert(text).second);
  }
  EXPECT_STREQ(signal_text(SIGTERM), "a signal");
  EXPECT_STREQ(signal_text(-1), "a signal");
}

/// Calls a kernel of one argument under a guard.
run_outcome run(guard& under, const char* name, int argument) {
  alignas(16) std::byte bytes[sizeof argument];
  std::memcpy(bytes, &argument, sizeof argument);
  const std::uint32_t sizes[] = {sizeof argument};
  std::byte* const places[] = {bytes};
  kernel ready({name, sizes});
  under.take_signals();
  return under.run(ready, name, places);
}

/// Ends the process with 0 if all is as expected, else with the number of what is not.
class checks {
 public:
  void expect(bool good) {
    ++number_;
    if (!good && failed_ == 0) failed_ = number_;
  }
  [[noreturn]] void end() const { std::_Exit(failed_); }

 private:
  int number_ = 0;
  int failed_ = 0;
};

class guard_death_test : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(guard_death_test, a_kernel_that_crashes_ends_and_the_process_goes_on) {
  const auto crash = [] {
    guard here(3);
    checks all;
    for (const int signal : {SIGSEGV, SIGFPE, SIGSEGV}) {
      const run_outcome outcome = run(here, "plain_crashes", signal);
      all.expect(outcome.signal == signal);
      all.expect(!outcome.threw);
      here.report_received();
    }
    all.expect(run(here, "plain_crashes", 0).signal == 0);
    all.end();
  };
  EXPECT_EXIT(crash(), testing::ExitedWithCode(0),
              "ham: kernel \"plain_crashes\" on child 3 crashed: SIGSEGV, memory that is not there\n"
              "ham: kernel \"plain_crashes\" on child 3 crashed: SIGFPE, arithmetic without result\n");
}

TEST_F(guard_death_test, what_a_kernel_throws_is_told) {
  const auto throws = [] {
    guard here(0);
    checks all;
    const run_outcome known = run(here, "plain_throws", 1);
    all.expect(known.threw && known.signal == 0);
    all.expect(known.text == "threw std::runtime_error: as asked");
    const run_outcome number = run(here, "plain_throws", 0);
    all.expect(number.threw);
    all.expect(number.text == "threw int");
    all.end();
  };
  EXPECT_EXIT(throws(), testing::ExitedWithCode(0), "");
}

TEST_F(guard_death_test, without_a_grace_a_crash_ends_the_process_at_once) {
  const auto crash = [] {
    ::setenv("HAM_MPIX_GRACE", "0", 1);
    guard here(1);
    static_cast<void>(run(here, "plain_crashes", SIGSEGV));
    std::_Exit(0);
  };
  EXPECT_EXIT(crash(), testing::KilledBySignal(SIGSEGV), "on child 1 crashed: SIGSEGV");
}

TEST_F(guard_death_test, a_crash_outside_of_a_kernel_ends_the_process) {
  const auto crash = [] {
    guard here(1);
    static_cast<void>(run(here, "plain_crashes", 0));
    ::raise(SIGABRT);
    std::_Exit(0);
  };
  EXPECT_EXIT(crash(), testing::KilledBySignal(SIGABRT), "or what it left behind crashed beyond repair: SIGABRT");
}

TEST_F(guard_death_test, a_kernel_that_calls_exit_is_told_of) {
  const auto leave = [] {
    guard here(2);
    static_cast<void>(run(here, "plain_exits", 4));
  };
  EXPECT_EXIT(leave(), testing::ExitedWithCode(4),
              "ham: kernel \"plain_exits\" on child 2 called exit: a kernel ends by returning");
}

}  // namespace
}  // namespace ham::mpix
