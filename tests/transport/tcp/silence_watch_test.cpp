// Links that are cut and peers that stand still: the first is noticed in time, the second is waited for.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "transport/tcp/nodes.hpp"

namespace ham::inline v1::transport::tcp::test {
namespace {

/// Switches the loopback device of this network namespace: what was sent while it is down never arrives.
bool set_loopback(bool up) {
  const base::unique_fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  if (::ioctl(socket.get(), SIOCGIFFLAGS, &request) != 0) return false;
  request.ifr_flags = static_cast<short>(up ? request.ifr_flags | IFF_UP : request.ifr_flags & ~IFF_UP);
  return ::ioctl(socket.get(), SIOCSIFFLAGS, &request) == 0;
}

bool write_file(const char* path, const std::string& text) {
  const base::unique_fd file(::open(path, O_WRONLY | O_CLOEXEC));
  return ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

/// A network of this thread's own. False: not permitted here.
bool enter_own_network() {
  if (::unshare(CLONE_NEWNET) == 0) return set_loopback(true);
  const uid_t user = ::getuid();
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return false;
  write_file("/proc/self/setgroups", "deny");
  return write_file("/proc/self/uid_map", "0 " + std::to_string(user) + " 1") && set_loopback(true);
}

constexpr int not_permitted = 77;

/// Runs `what` in a child with a network of its own; threads of the parent stay outside.
template <class What>
void in_own_network(What what) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (!enter_own_network()) ::_exit(not_permitted);
    what();
    std::fflush(nullptr);
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == not_permitted) GTEST_SKIP() << "no network namespaces here";
  EXPECT_EQ(status, 0);
}

job_options patient_for(std::chrono::milliseconds timeout) {
  job_options how;
  how.timeout = timeout;
  return how;
}

std::chrono::milliseconds time_until_loss(const seat& who, node_t peer) {
  const auto begin = std::chrono::steady_clock::now();
  const std::string why = who.await_loss(peer, 30s);
  EXPECT_NE(why.find("does not answer"), std::string::npos) << why;
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
}

// Limits are generous; what is meant is 3 s.

TEST(tcp_silence, a_cut_link_is_noticed_when_idle) {
  in_own_network([] {
    job one(1, patient_for(3s));
    ASSERT_TRUE(set_loopback(false));
    EXPECT_LT(time_until_loss(one.host(), 1), 25s);
    EXPECT_LT(time_until_loss(one.node(1), 0), 25s);
  });
}

TEST(tcp_silence, a_cut_link_is_noticed_with_a_call_under_way) {
  in_own_network([] {
    job one(1, patient_for(3s));
    ASSERT_TRUE(set_loopback(false));
    one.host().send(1, 1);
    EXPECT_LT(time_until_loss(one.host(), 1), 25s);
    EXPECT_EQ(one.host().to(1)->consumed(), one.host().to(1)->sent()) << "nobody knows what became of it";
  });
}

TEST(tcp_silence, a_cut_link_is_noticed_in_the_middle_of_much) {
  in_own_network([] {
    job one(1, patient_for(3s));
    while (one.host().to(1)->reserve(100'000) != nullptr) one.host().to(1)->commit({1, 0, 1});
    while (one.node(1).receive(10ms)) {
    }
    for (int i = 0; i < 5; ++i) one.host().send(1, 1, bytes(100'000));
    ASSERT_TRUE(set_loopback(false));
    for (int i = 0; i < 5; ++i) one.host().send(1, 1, bytes(100'000));
    EXPECT_LT(time_until_loss(one.host(), 1), 25s);
  });
}

TEST(tcp_silence, a_link_that_comes_back_in_time_loses_nothing) {
  in_own_network([] {
    job one(1, patient_for(20s));
    ASSERT_TRUE(set_loopback(false));
    for (std::uint32_t i = 0; i < 10; ++i) one.host().send(1, i);
    std::this_thread::sleep_for(1s);
    ASSERT_TRUE(set_loopback(true));
    for (std::uint32_t i = 0; i < 10; ++i) EXPECT_EQ(one.node(1).receive(15s), i);
    EXPECT_TRUE(one.host().news.lost(1).empty());
  });
}

/// The kernel's own limit on silence would end this connection: the window is closed for longer than it.
TEST(tcp_silence, a_peer_that_reads_nothing_for_long_is_waited_for) {
  job one(1, patient_for(2s));
  std::uint32_t sent = 0;
  while (one.host().to(1)->reserve(50'000) != nullptr) one.host().to(1)->commit({sent++, 0, 1});
  std::this_thread::sleep_for(6s);
  ASSERT_TRUE(one.host().news.lost(1).empty()) << one.host().news.lost(1).front();
  for (std::uint32_t i = 0; i < sent; ++i) ASSERT_EQ(one.node(1).receive(), i);
  one.host().send(1, 12345);
  EXPECT_EQ(one.node(1).receive(), 12345U);
}

}  // namespace
}  // namespace ham::transport::tcp::test
