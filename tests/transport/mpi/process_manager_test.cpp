// The end of a process as MPICH's process manager hears of it.
#include "transport/mpi/process_manager.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <string_view>

namespace ham::inline v1::transport::mpi {
namespace {

class process_manager : public testing::Test {
 protected:
  process_manager() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends_), 0); }
  ~process_manager() override {
    ::close(ends_[0]);
    if (ends_[1] >= 0) ::close(ends_[1]);
  }
  void answer(std::string_view text) {
    EXPECT_EQ(::write(ends_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void hang_up() {
    ::close(ends_[1]);
    ends_[1] = -1;
  }
  std::string heard() {
    char text[128];
    const ssize_t length = ::recv(ends_[1], text, sizeof text, MSG_DONTWAIT);
    return {text, static_cast<std::size_t>(length < 0 ? 0 : length)};
  }
  [[nodiscard]] bool leave(int limit_ms = 10'000) { return leave_process_manager(ends_[0], limit_ms); }

  int ends_[2] = {-1, -1};
};

TEST_F(process_manager, acknowledges_the_end) {
  answer("cmd=finalize_ack\n");
  EXPECT_TRUE(leave());
  EXPECT_EQ(heard(), "cmd=finalize\n");
}

TEST_F(process_manager, may_say_more_behind_the_acknowledgement) {
  answer("cmd=finalize_ack rc=0\nnext");
  EXPECT_TRUE(leave());
}

TEST_F(process_manager, that_answers_something_else_has_not_understood) {
  answer("cmd=barrier_out\n");
  EXPECT_FALSE(leave());
}

TEST_F(process_manager, that_writes_no_end_of_line_is_not_read_for_ever) {
  answer(std::string(200, 'x'));
  EXPECT_FALSE(leave());
}

TEST_F(process_manager, that_is_silent_is_waited_for_up_to_the_limit) { EXPECT_FALSE(leave(1)); }

TEST_F(process_manager, that_has_gone_ends_nobody_by_a_signal) {
  hang_up();
  EXPECT_FALSE(leave());
}

TEST_F(process_manager, without_a_descriptor_there_is_none) { EXPECT_FALSE(leave_process_manager(-1, 1)); }

}  // namespace
}  // namespace ham::transport::mpi
