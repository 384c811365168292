// What hosts and targets say to each other before they are connected, and how long a host waits.
#include "transport/common/joining.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <span>

#include "base/settings.hpp"

namespace ham::inline v1::transport {
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

/// That a target does not join, and says why on both sides.
template <class Join>
void expect_declined(int host, Join join, const std::string& why) {
  try {
    join();
    ADD_FAILURE();
    return;
  } catch (const config_error& problem) {
    EXPECT_EQ(problem.what(), why);
  }
  bool closed = false;
  const auto said = base::receive_control(host, true, closed);
  ASSERT_TRUE(said.has_value());
  const std::string text(reinterpret_cast<const char*>(said->bytes.data()), said->bytes.size());
  EXPECT_EQ(text, std::string(declined) + why);
}

TEST(joining, a_target_that_declines_says_so_on_both_sides) {
  auto [host, target] = base::make_control_pair();
  expect_declined(
      host.get(), [&, to = target.get()] { decline(to, "another release"); }, "another release");
}

TEST(joining, a_welcome_has_its_descriptors) {
  auto [host, target] = base::make_control_pair();
  const std::array<int, 2> fds{host.get(), target.get()};
  const std::array<std::byte, 3> words{};
  ASSERT_TRUE(base::send_control(host.get(), words, fds));
  const base::control_message message = receive_welcome_of_own_user(target.get());
  EXPECT_EQ(message.bytes.size(), words.size());
  expect_descriptors(target.get(), message, 2);
  for (const std::size_t wrong : {0U, 1U, 3U}) {
    expect_declined(
        host.get(), [&, to = target.get()] { expect_descriptors(to, message, wrong); },
        "its host's descriptors did not arrive; raise the limit of open files (ulimit -n)");
  }
}

TEST(joining, a_host_of_another_user_is_declined) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to send as another user";
  auto [host, target] = base::make_control_pair();
  const pid_t stranger = ::fork();
  if (stranger == 0) {
    const std::byte word{};
    const bool sent = ::setresuid(65534, 65534, 65534) == 0 && base::send_control(host.get(), {&word, 1}, {});
    ::_exit(sent ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(stranger, &status, 0), stranger);
  ASSERT_EQ(status, 0);
  expect_declined(
      host.get(), [to = target.get()] { static_cast<void>(receive_welcome_of_own_user(to)); },
      "the host of this target belongs to another user; start both as the same user");
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
