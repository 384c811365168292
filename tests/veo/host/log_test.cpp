// Lines on stderr: errors always, the rest only for who asked for it.
#include "veo/host/log.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

namespace ham::inline v1::veo {
namespace {

TEST(veo_log, errors_say_who_and_what) {
  testing::internal::CaptureStderr();
  say("100% wrong: %s");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "[VH] [PID " + std::to_string(::getpid()) + "] ERROR: 100% wrong: %s\n");
}

TEST(veo_log, traces_are_for_who_has_asked_at_the_start) {
  if (std::getenv("VEO_LOG_DEBUG") != nullptr) GTEST_SKIP() << "VEO_LOG_DEBUG was set before";
  testing::internal::CaptureStderr();
  trace("a request");
  ::setenv("VEO_LOG_DEBUG", "1", 1);
  trace("another one");
  ::unsetenv("VEO_LOG_DEBUG");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(veo_log, a_trace_says_who) {
  const auto trace_in_new_process = [] {
    trace("a request");
    std::_Exit(0);
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  ::setenv("VEO_LOG_DEBUG", "", 1);
  EXPECT_EXIT(trace_in_new_process(), testing::ExitedWithCode(0), "\\[VH\\] \\[PID [0-9]+\\] a request");
  ::unsetenv("VEO_LOG_DEBUG");
}

}  // namespace
}  // namespace ham::veo
