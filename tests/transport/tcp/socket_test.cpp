// What sockets are told, and what they are asked for.
#include "transport/tcp/socket.hpp"

#include <linux/tcp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "forbidden_calls.hpp"
#include "transport/tcp/nodes.hpp"

namespace ham::inline v1::transport::tcp::test {
namespace {

int option(int socket, int level, int which) {
  int value = -1;
  socklen_t size = sizeof value;
  EXPECT_EQ(::getsockopt(socket, level, which, &value, &size), 0);
  return value;
}

class sockets : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(here_ && there_); }

  base::unique_fd listening_ = listen_at({"127.0.0.1", "0"}, true);
  std::pair<base::unique_fd, base::unique_fd> ends_ = connected_to(listening_.get());
  base::unique_fd& here_ = ends_.first;
  base::unique_fd& there_ = ends_.second;
};

/// In a process for which the kernel refuses a call: whether `begin` names it; 2: there are no filters here.
int status_without(long call, const char* name, void (*begin)()) {
  return ham::test::status_without(call, EPERM, name, begin);
}

TEST(sockets_where_calls_are_refused, are_an_error_that_names_the_call) {
  const auto listen = [] { static_cast<void>(listen_at({"127.0.0.1", "0"}, true)); };
  if (status_without(SYS_socket, "socket", listen) == 2) GTEST_SKIP() << "no filters of system calls here";
  EXPECT_EQ(status_without(SYS_socket, "socket", listen), 0);
  EXPECT_EQ(status_without(SYS_bind, "bind", listen), 0);
  EXPECT_EQ(status_without(SYS_listen, "listen", listen), 0);
  EXPECT_EQ(status_without(SYS_connect, "connect", listen), 0);
  EXPECT_EQ(status_without(SYS_getsockname, "getsockname", listen), 0);
  EXPECT_EQ(status_without(SYS_getpeername, "getpeername", listen), 0);
  EXPECT_EQ(status_without(SYS_getsockopt, "getsockopt", listen), 0);
  EXPECT_EQ(status_without(SYS_sendto, "sendto", listen), 0);
  EXPECT_EQ(status_without(SYS_recvfrom, "recvfrom", listen), 0);
  EXPECT_EQ(status_without(SYS_sendmsg, "sendmsg", listen), 0);
  EXPECT_EQ(status_without(SYS_accept4, "accept4", [] { expect_accepting_call(); }), 0);
  EXPECT_EQ(status_without(SYS_accept4, "accept4", listen), 1) << "who only connects does without";
}

// With Nagle's algorithm the end of a transfer waits 40 ms for an acknowledgement that the receiver holds back.
TEST_F(sockets, that_connect_send_at_once_and_notice_a_cut_link) {
  EXPECT_EQ(option(here_.get(), IPPROTO_TCP, TCP_NODELAY), 1);
  EXPECT_EQ(option(here_.get(), SOL_SOCKET, SO_KEEPALIVE), 1);
  EXPECT_EQ(option(here_.get(), IPPROTO_TCP, TCP_KEEPIDLE), 1);
  EXPECT_EQ(option(here_.get(), IPPROTO_TCP, TCP_KEEPCNT), 3);
}

TEST_F(sockets, wait_as_long_as_they_are_told) {
  for (const auto timeout : {100ms, 2000ms, 3000ms, 127'000ms, 128'000ms, 300'000ms, 3'600'000ms}) {
    const std::string what = std::to_string(timeout.count()) + " ms";
    const auto meant = std::max<std::chrono::milliseconds>(timeout, 2s);
    tune(here_.get(), timeout);
    const int interval = option(here_.get(), IPPROTO_TCP, TCP_KEEPINTVL);
    EXPECT_EQ(option(here_.get(), IPPROTO_TCP, TCP_KEEPIDLE), interval) << what;
    const std::chrono::seconds found((1 + option(here_.get(), IPPROTO_TCP, TCP_KEEPCNT)) * interval);
    EXPECT_LE(found, meant) << what;
    EXPECT_GT(found, meant - std::chrono::seconds(interval)) << what;
    limit_silence(here_.get(), timeout);
    const std::chrono::milliseconds limit(option(here_.get(), IPPROTO_TCP, TCP_USER_TIMEOUT));
    EXPECT_LT(limit, timeout) << what;
    EXPECT_GE(limit, std::max(timeout - 500ms, timeout * 5 / 6)) << what;
  }
  limit_silence(here_.get(), 0ms);
  EXPECT_EQ(option(here_.get(), IPPROTO_TCP, TCP_USER_TIMEOUT), 0) << "no limit";
}

TEST_F(sockets, send_bursts_of_complete_segments) {
  for (const int limit : {0, 9000, 1460, 536}) {
    const base::unique_fd limited(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (limit != 0) {
      ASSERT_EQ(::setsockopt(limited.get(), IPPROTO_TCP, TCP_MAXSEG, &limit, sizeof limit), 0);
    }
    const socket_address to = local_address(listening_.get());
    ASSERT_EQ(::connect(limited.get(), to.get(), to.size), 0);
    const auto segment = static_cast<std::size_t>(option(limited.get(), IPPROTO_TCP, TCP_MAXSEG));
    EXPECT_TRUE(limit == 0 || segment <= static_cast<std::size_t>(limit)) << segment;
    const std::size_t burst = burst_bytes(limited.get());
    EXPECT_EQ(burst % segment, 0U) << segment;
    EXPECT_LT(burst, std::size_t{1} << 16) << segment;
    EXPECT_GE(burst + segment, std::size_t{65'000}) << segment;
  }
}

}  // namespace
}  // namespace ham::transport::tcp::test
