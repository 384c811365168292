// One client of the server of metrics, over a pair of sockets, at times that the test says.
#include "runtime/metrics_client.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include "base/clock.hpp"

namespace ham::inline v1::detail {
namespace {

class metrics_client_alone : public testing::Test {
 protected:
  metrics_client_alone() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()), 0);
    far.reset(ends[0]);
    client = std::make_unique<metrics_client>(base::unique_fd(ends[1]), text);
  }
  void send(const std::string& what) {
    ASSERT_EQ(::send(far.get(), what.data(), what.size(), MSG_NOSIGNAL), static_cast<ssize_t>(what.size()));
  }
  std::string receive_all() {
    std::string all;
    std::array<char, 4096> piece{};
    for (ssize_t count = 0; (count = ::recv(far.get(), piece.data(), piece.size(), 0)) > 0;)
      all.append(piece.data(), static_cast<std::size_t>(count));
    return all;
  }
  [[nodiscard]] bool go_on() { return client->go_on(base::now_ns()); }
  [[nodiscard]] bool go_on_late() { return client->go_on(client->until_ns()); }

  base::unique_fd far;
  std::string metrics = "fine\n";
  const std::function<std::string()> text = [this] { return metrics; };
  std::unique_ptr<metrics_client> client;
};

const std::string complete_request = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";

TEST_F(metrics_client_alone, is_answered_when_its_request_is_whole) {
  EXPECT_EQ(client->awaits(), POLLIN);
  EXPECT_TRUE(go_on()) << "it has said nothing";
  send(complete_request.substr(0, 10));
  EXPECT_TRUE(go_on());
  EXPECT_EQ(receive_all(), "");
  send(complete_request.substr(10));
  EXPECT_TRUE(go_on());
  EXPECT_TRUE(receive_all().ends_with("\r\n\r\nfine\n"));
  send("more, which is not read into anything");
  EXPECT_TRUE(go_on());
  far.reset();
  EXPECT_FALSE(go_on());
}

TEST_F(metrics_client_alone, that_has_said_nothing_is_let_go_when_its_time_is_over) {
  EXPECT_FALSE(go_on_late());
  EXPECT_EQ(receive_all(), "");
}

TEST_F(metrics_client_alone, that_has_said_too_little_is_told_so_when_its_time_is_over) {
  send(complete_request.substr(0, 10));
  EXPECT_TRUE(go_on());
  const std::int64_t until = client->until_ns();
  EXPECT_TRUE(go_on_late());
  EXPECT_GE(client->until_ns(), until) << "the answer has a time of its own";
  EXPECT_TRUE(receive_all().starts_with("HTTP/1.1 400"));
}

TEST_F(metrics_client_alone, that_says_too_much_is_told_so) {
  bool answered = false;
  for (std::size_t said = 0; said <= metrics_client::max_request_bytes && !answered; said += 512) {
    send(std::string(512, 'x'));
    ASSERT_TRUE(go_on());
    answered = receive_all().starts_with("HTTP/1.1 400");
  }
  EXPECT_TRUE(answered);
  bool goes_on = true;
  for (std::size_t said = 0; said <= metrics_client::max_request_bytes && goes_on; said += 512) {
    send(std::string(512, 'x'));
    goes_on = go_on();
  }
  EXPECT_FALSE(goes_on) << "and goes on";
}

TEST_F(metrics_client_alone, that_does_not_read_is_let_go_when_its_time_is_over) {
  metrics = std::string(4'000'000, 'x');
  send(complete_request);
  EXPECT_TRUE(go_on());
  EXPECT_EQ(client->awaits(), POLLOUT);
  EXPECT_TRUE(go_on()) << "there is no room";
  EXPECT_FALSE(go_on_late());
}

TEST_F(metrics_client_alone, that_reads_gets_all_of_a_long_answer) {
  metrics = std::string(4'000'000, 'x');
  send(complete_request);
  std::string all;
  while (client->awaits() == POLLOUT || all.empty()) {
    ASSERT_TRUE(go_on());
    all += receive_all();
  }
  EXPECT_EQ(all.size() - all.find("\r\n\r\n") - 4, metrics.size());
  EXPECT_FALSE(go_on_late());
}

TEST_F(metrics_client_alone, that_has_gone_is_let_go) {
  far.reset();
  EXPECT_FALSE(go_on());
}

TEST(metrics_client, passes_on_what_its_text_throws) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()), 0);
  const base::unique_fd far(ends[0]);
  const std::function<std::string()> text = []() -> std::string { throw std::runtime_error("nothing"); };
  metrics_client client(base::unique_fd(ends[1]), text);
  ASSERT_EQ(::send(far.get(), complete_request.data(), complete_request.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(complete_request.size()));
  EXPECT_THROW(static_cast<void>(client.go_on(base::now_ns())), std::runtime_error);
}

}  // namespace
}  // namespace ham::detail
