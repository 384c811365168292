// The server of metrics: what it answers to whom, and that nobody stops it.
#include "runtime/metrics_server.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/settings.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::detail {
namespace {

base::unique_fd connect_to(std::uint16_t port) {
  base::unique_fd made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(made.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
  return made;
}

void send_text(int to, const std::string& text) {
  static_cast<void>(::send(to, text.data(), text.size(), MSG_NOSIGNAL));  // it may have had enough
}

std::string receive_all(int from) {
  std::string all;
  std::array<char, 4096> piece{};
  for (ssize_t count = 0; (count = ::recv(from, piece.data(), piece.size(), 0)) > 0;)
    all.append(piece.data(), static_cast<std::size_t>(count));
  return all;
}

std::string answer_to(const metrics_server& server, const std::string& request) {
  const base::unique_fd connection = connect_to(server.port());
  send_text(connection.get(), request);
  ::shutdown(connection.get(), SHUT_WR);
  return receive_all(connection.get());
}

const std::string get = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";

TEST(metrics_server, answers_requests_of_metrics) {
  std::atomic<int> asked{0};
  const metrics_server server(0, [&] { return "a " + std::to_string(++asked) + "\n"; });
  ASSERT_NE(server.port(), 0);
  const std::string text = answer_to(server, get);
  EXPECT_TRUE(text.starts_with("HTTP/1.1 200 OK\r\n")) << text;
  EXPECT_NE(text.find("\r\nContent-Type: text/plain; version=0.0.4"), std::string::npos) << text;
  EXPECT_NE(text.find("\r\nContent-Length: 4\r\n"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("\r\n\r\na 1\n")) << text;
  EXPECT_TRUE(answer_to(server, get).ends_with("a 2\n"));
}

TEST(metrics_server, sends_long_texts_whole) {
  const metrics_server server(0, [] { return std::string(6'000'000, 'x'); });
  const std::string text = answer_to(server, get);
  EXPECT_EQ(text.size() - text.find("\r\n\r\n") - 4, 6'000'000U);
}

TEST(metrics_server, is_found_on_loopback_alone) {
  const metrics_server server(0, [] { return std::string(); });
  const base::unique_fd other(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(server.port());
  ASSERT_EQ(::inet_pton(AF_INET, "127.0.0.2", &at.sin_addr), 1);
  EXPECT_NE(::connect(other.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at), 0)
      << "it would listen on all addresses";
}

TEST(metrics_server, outlives_hostile_clients) {
  const metrics_server server(0, [] { return std::string("fine\n"); });
  std::mt19937 random(3);
  for (int i = 0; i < 20; ++i) {
    std::string noise(i * 50, ' ');
    for (char& c : noise) c = static_cast<char>(random());
    EXPECT_TRUE(answer_to(server, noise + "\r\n\r\n").starts_with("HTTP/1.1 4")) << i;
  }
  EXPECT_TRUE(answer_to(server, std::string(100'000, 'x')).find("200 OK") == std::string::npos) << "without an end";
  connect_to(server.port()).reset();
  {
    const base::unique_fd leaves = connect_to(server.port());  // without hearing the answer
    send_text(leaves.get(), get);
  }
  EXPECT_TRUE(answer_to(server, get).ends_with("fine\n"));
}

bool is_open(int fd) {
  std::array<char, 1> none{};
  return ::recv(fd, none.data(), none.size(), MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

TEST(metrics_server, answers_while_others_say_nothing) {
  const metrics_server server(0, [] { return std::string("fine\n"); });
  constexpr int max_attempts = 20;  // on a machine that is so busy that their time is over before
  bool while_open = false;
  for (int i = 0; i < max_attempts && !while_open; ++i) {
    const base::unique_fd silent = connect_to(server.port());
    const base::unique_fd halting = connect_to(server.port());
    send_text(halting.get(), "GET /metrics");
    EXPECT_TRUE(answer_to(server, get).ends_with("fine\n"));
    while_open = is_open(silent.get()) && is_open(halting.get());
    EXPECT_EQ(receive_all(silent.get()), "");
    EXPECT_TRUE(receive_all(halting.get()).starts_with("HTTP/1.1 400")) << "when its time is over";
  }
  EXPECT_TRUE(while_open) << "others wait for them";
}

TEST(metrics_server, answers_while_others_do_not_read) {
  std::atomic<int> asked{0};
  const metrics_server server(0, [&] { return ++asked == 1 ? std::string(20'000'000, 'x') : std::string("fine\n"); });
  const base::unique_fd deaf = connect_to(server.port());
  send_text(deaf.get(), get);
  std::array<char, 1> first{};
  ASSERT_EQ(::recv(deaf.get(), first.data(), first.size(), MSG_PEEK), 1) << "it is being answered";
  EXPECT_TRUE(answer_to(server, get).ends_with("fine\n"));
}

TEST(metrics_server, serves_others_when_those_that_say_nothing_have_had_their_time) {
  const metrics_server server(0, [] { return std::string("fine\n"); });
  std::vector<base::unique_fd> silent;
  for (std::size_t i = 0; i < metrics_server::max_clients; ++i) silent.push_back(connect_to(server.port()));
  EXPECT_TRUE(answer_to(server, get).ends_with("fine\n"));
  for (const base::unique_fd& one : silent) EXPECT_EQ(receive_all(one.get()), "");
}

TEST(metrics_server, ends_while_a_client_says_nothing) {
  std::optional<metrics_server> server(std::in_place, std::uint16_t{0}, [] { return std::string(); });
  const base::unique_fd silent = connect_to(server->port());
  server.reset();
  EXPECT_EQ(receive_all(silent.get()), "");
}

TEST(metrics_server, goes_on_when_there_is_nothing_to_tell) {
  std::atomic<bool> fails{true};
  const metrics_server server(0, [&]() -> std::string {
    if (fails) throw std::runtime_error("nothing");
    return "fine\n";
  });
  EXPECT_EQ(answer_to(server, get), "");
  fails = false;
  EXPECT_TRUE(answer_to(server, get).ends_with("fine\n"));
}

TEST(metrics_server, says_that_a_port_is_taken) {
  const metrics_server server(0, [] { return std::string(); });
  try {
    const metrics_server second(server.port(), [] { return std::string(); });
    FAIL() << "two servers on one port";
  } catch (const config_error& problem) {
    EXPECT_NE(std::string(problem.what()).find(std::to_string(server.port())), std::string::npos);
    EXPECT_NE(std::string(problem.what()).find("HAM_METRICS"), std::string::npos);
  }
}

TEST(metrics_server, of_the_process_is_one_and_need_not_be) {
  base::use_program_settings({});
  EXPECT_EQ(metrics_server::of_process(), nullptr) << "nobody asks for it";
  std::uint16_t port = 0;
  {
    const metrics_server other(0, [] { return std::string(); });
    port = other.port();
    base::use_program_settings({{base::setting::metrics, std::to_string(port), "here"}});
    EXPECT_EQ(metrics_server::of_process(), nullptr) << "its port is taken";
  }
  const auto one = metrics_server::of_process();
  ASSERT_NE(one, nullptr);
  EXPECT_EQ(one->port(), port);
  EXPECT_EQ(metrics_server::of_process(), one);
  base::use_program_settings({});
}

}  // namespace
}  // namespace ham::detail
