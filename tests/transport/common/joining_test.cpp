// What hosts and targets say to each other before they are connected, and how long a host waits.
#include "transport/common/joining.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <span>

#include "base/settings.hpp"

namespace ham::transport {
namespace {

TEST(joining, takes_as_long_as_the_setting_says) {
  ::unsetenv("HAM_START_TIMEOUT");
  EXPECT_EQ(start_limit_ns(), 60'000'000'000);
  ::setenv("HAM_START_TIMEOUT", "7", 1);
  EXPECT_EQ(start_limit_ns(), 7'000'000'000);
  ::setenv("HAM_START_TIMEOUT", "0", 1);
  EXPECT_EQ(start_limit_ns(), 0) << "no limit";
  ::setenv("HAM_START_TIMEOUT", "1s", 1);
  EXPECT_THROW(static_cast<void>(start_limit_ns()), config_error);
  base::use_program_settings({{base::setting::start_timeout, "5", "the program"}});
  EXPECT_EQ(start_limit_ns(), 5'000'000'000);
  base::use_program_settings({});
  ::unsetenv("HAM_START_TIMEOUT");
  EXPECT_EQ(too_slow(5'000'000'000), "did not answer within 5 s (HAM_START_TIMEOUT) and was ended");
  EXPECT_EQ(no_greeting(5'000'000'000).find("it joined, but did not greet its host within 5 s (HAM_START_TIMEOUT)"),
            0U);
}

TEST(joining, that_fails_is_told_in_the_target_s_words) {
  EXPECT_EQ(words({"qemu", "./app", "-v"}), "qemu ./app -v");
  EXPECT_EQ(why_not_joined("app", "exited with status 1", "no memory"), "it did not join: no memory");
  const std::string mute = why_not_joined("app", "exited with status 1", "");
  EXPECT_TRUE(mute.starts_with("its process 'app' exited with status 1 before it joined")) << mute;
}

TEST(joining, a_target_that_declines_says_so_on_both_sides) {
  auto [host, target] = base::make_control_pair();
  try {
    decline(target.get(), "another release");
    FAIL();
  } catch (const config_error& problem) {
    EXPECT_STREQ(problem.what(), "another release");
  }
  bool closed = false;
  const auto said = base::receive_control(host.get(), true, closed);
  ASSERT_TRUE(said.has_value());
  const std::string text(reinterpret_cast<const char*>(said->bytes.data()), said->bytes.size());
  EXPECT_EQ(text, std::string(declined) + "another release");
}

TEST(joining, reads_the_descriptor_that_a_host_has_named) {
  EXPECT_EQ(control_fd_of("17"), 17);
  for (const char* wrong : {"", "-1", "17x", "99999999999"}) EXPECT_EQ(control_fd_of(wrong), -1) << wrong;
}

TEST(joining, needs_a_host_that_answers) {
  auto [host, target] = base::make_control_pair();
  host.reset();
  ::fcntl(target.get(), F_SETFD, 0);  // as it is inherited
  EXPECT_THROW(static_cast<void>(receive_welcome(target.get())), config_error);
  EXPECT_NE(::fcntl(target.get(), F_GETFD) & FD_CLOEXEC, 0) << "what this process starts does not get it";
}

}  // namespace
}  // namespace ham::transport
