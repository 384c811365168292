// Other users: they start no target of ours, and a control socket in their hands is worth nothing.
// link: ham::ham
#include "support.hpp"

#include "base/control_socket.hpp"
#include "transport/shm/target_transport.hpp"

using namespace ham;
using namespace ham::test;

namespace {

constexpr uid_t nobody = 65534;
constexpr uid_t somebody = 65533;

class other_users : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can take another user's place";
  }
};

/// Runs `what` in a child process of that user; its exit status.
template <class What>
[[nodiscard]] int as_user(uid_t user, What what) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (::setresuid(user, user, user) != 0) ::_exit(100);
    ::_exit(what());
  }
  int status = -1;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// A socket pair as `user` makes it.
[[nodiscard]] auto pair_of(uid_t user) {
  EXPECT_EQ(::seteuid(user), 0);
  auto result = base::make_control_pair();
  EXPECT_EQ(::seteuid(0), 0);
  return result;
}

/// What a target says to an invitation over this socket; the host never answers.
[[nodiscard]] std::string refusal(int socket) {
  try {
    (void)transport::shm::invitation::accept(socket);
  } catch (const config_error& problem) {
    return problem.what();
  }
  return "accepted";
}

constexpr const char* of_another_user = "belongs to another user";

/// 0: refused for its user; 1: it would have been listened to.
int refused_for_its_user(base::unique_fd socket) {
  return refusal(socket.release()).find(of_another_user) != std::string::npos ? 0 : 1;
}

TEST_F(other_users, start_no_targets_of_ours) {
  const auto try_it = [](uid_t maker, uid_t target) {
    auto [host, mine] = pair_of(maker);
    host.reset();
    return as_user(target, [&mine = mine] { return refused_for_its_user(std::move(mine)); });
  };
  EXPECT_EQ(try_it(nobody, 0), 0);
  EXPECT_EQ(try_it(nobody, somebody), 0);
  EXPECT_EQ(try_it(somebody, somebody), 1);
  EXPECT_EQ(try_it(0, somebody), 1) << "root may";
}

TEST_F(other_users, are_known_by_what_they_send) {
  auto [mine, theirs] = base::make_control_pair();
  const std::byte text[4]{};
  const auto send = [&theirs = theirs, &text] { return base::send_control(theirs.get(), text, {}) ? 0 : 1; };
  bool closed = false;
  EXPECT_EQ(as_user(nobody, send), 0);
  auto message = base::receive_control(mine.get(), true, closed);
  ASSERT_TRUE(message);
  EXPECT_TRUE(message->from_other_user);
  EXPECT_EQ(send(), 0);
  message = base::receive_control(mine.get(), true, closed);
  ASSERT_TRUE(message);
  EXPECT_FALSE(message->from_other_user);
}

int echo(int value) { return value; }
int become(uid_t user) { return ::setresuid(user, user, user); }
std::string why_not_connected(node_t node) {
  try {
    offload::sync(node, fn<&echo>, 0);
    return {};
  } catch (const node_failure& failure) {
    return failure.what();
  }
}
/// 0: could call; 1: node_failure.
int call(node_t node) {
  try {
    return offload::sync(node, fn<&echo>, 0);
  } catch (const node_failure&) {
    return 1;
  }
}

TEST_F(other_users, get_no_connections_from_the_host) {
  runtime rt(nodes("shm:3"));
  EXPECT_EQ(offload::sync(2, fn<&call>, 3), 0);
  EXPECT_EQ(offload::sync(1, fn<&become>, nobody), 0);
  EXPECT_EQ(offload::sync(1, fn<&call>, 2), 1);
  const std::string text = offload::sync(1, fn<&why_not_connected>, 2);
  EXPECT_NE(text.find("another user"), std::string::npos) << text;
  EXPECT_EQ(text.find("pid -1"), std::string::npos) << text;
  EXPECT_EQ(offload::sync(2, fn<&call>, 3), 0);
  EXPECT_EQ(offload::sync(1, fn<&call>, 0), 0) << "what it had it keeps";
  EXPECT_EQ(offload::sync(1, fn<&echo>, 7), 7);
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("HAM_TARGET") != nullptr) runtime rt(argc, argv);
  return run(argc, argv);
}
