// TLS over a socket: what lies in the way of a handshake, what is damaged, and how it ends are told apart.
#include "transport/tcp/tls_stream.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "transport/tcp/nodes.hpp"

namespace ham::inline v1::transport::tcp::test {
namespace {

using status = byte_stream::status;

class tls_sockets : public testing::Test {
 protected:
  void SetUp() override {
    if (!tls_built()) GTEST_SKIP() << why_no_tls();
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    client_ = base::unique_fd(ends[0]);
    server_ = base::unique_fd(ends[1]);
  }
  [[nodiscard]] std::unique_ptr<tls_stream> stream(tls_role role, int key = 1) {
    return std::make_unique<tls_stream>(
        std::move(role == tls_role::client ? client_ : server_),
        std::make_shared<const tls_context>(role, key_of(key), job_identity, tested_records()));
  }
  /// How far both come.
  static std::pair<byte_stream::outcome, byte_stream::outcome> establish(tls_stream& client, tls_stream& server) {
    byte_stream::outcome here{status::later};
    byte_stream::outcome there{status::later};
    const auto ends = [](const byte_stream::outcome& one) {
      return one.what == status::moved || one.what == status::failed || one.what == status::lost;
    };
    for (int i = 0; i < 100; ++i) {
      if (!ends(here)) here = client.establish();
      if (!ends(there)) there = server.establish();
    }
    return {here, there};
  }

  base::unique_fd client_, server_;
};

/// The first outcome that is not partial.
byte_stream::outcome receive_some(tls_stream& from, std::span<std::byte> into) {
  byte_stream::outcome got{};
  do got = from.receive(into);
  while (got.what == status::partial);
  return got;
}

TEST_F(tls_sockets, wait_for_their_peer_during_the_handshake) {
  const auto client = stream(tls_role::client);
  EXPECT_EQ(client->establish().what, status::later);
  EXPECT_EQ(client->unsent(), 0U) << "its first words have gone";
  const auto server = stream(tls_role::server);
  const auto [here, there] = establish(*client, *server);
  EXPECT_EQ(here.what, status::moved) << client->failure();
  EXPECT_EQ(there.what, status::moved) << server->failure();
}

TEST_F(tls_sockets, fail_with_another_key) {
  const auto client = stream(tls_role::client, 1);
  const auto server = stream(tls_role::server, 2);
  const auto [here, there] = establish(*client, *server);
  EXPECT_EQ(there.what, status::failed);
  EXPECT_EQ(there.error, EBADMSG);
  EXPECT_NE(server->failure(), "");
  EXPECT_NE(here.what, status::moved);
}

TEST_F(tls_sockets, fail_if_the_peer_speaks_something_else) {
  const auto server = stream(tls_role::server);
  const std::string words = "GET / HTTP/1.1\r\nHost: here\r\n\r\n";
  ASSERT_EQ(::send(client_.get(), words.data(), words.size(), MSG_NOSIGNAL), static_cast<ssize_t>(words.size()));
  byte_stream::outcome got{};
  for (int i = 0; i < 10 && got.what != status::failed; ++i) got = server->establish();
  EXPECT_EQ(got.what, status::failed);
  EXPECT_EQ(got.error, EBADMSG);
}

TEST_F(tls_sockets, are_lost_if_the_peer_goes_during_the_handshake) {
  const auto server = stream(tls_role::server);
  client_.reset();
  EXPECT_EQ(server->establish().what, status::lost);
}

class established_tls : public tls_sockets {
 protected:
  void SetUp() override {
    tls_sockets::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    raw_client = client_.get();
    client = stream(tls_role::client);
    server = stream(tls_role::server);
    const auto [here, there] = establish(*client, *server);
    ASSERT_TRUE(here.what == status::moved && there.what == status::moved);
  }
  int raw_client = -1;
  std::unique_ptr<tls_stream> client, server;
};

TEST_F(established_tls, keeps_what_was_sent_until_it_is_flushed) {
  ASSERT_EQ(client->send(pattern(1000)).bytes, 1000U);
  EXPECT_GT(client->unsent(), 1000U) << "ciphertext is longer";
  bytes room(2000);
  EXPECT_EQ(server->receive(room).what, status::later);
  ASSERT_EQ(client->flush().what, status::moved);
  EXPECT_EQ(client->unsent(), 0U);
  const byte_stream::outcome got = receive_some(*server, room);
  ASSERT_EQ(got.what, status::moved);
  room.resize(got.bytes);
  EXPECT_EQ(room, pattern(1000));
  EXPECT_FALSE(server->has_input());
}

TEST_F(established_tls, goes_on_where_the_socket_was_full) {
  const bytes data = pattern(3'000'000);
  bytes found;
  bytes room(100'000);
  for (std::size_t sent = 0; found.size() < data.size();) {
    const byte_stream::outcome flushed = client->flush();
    ASSERT_TRUE(flushed.what == status::moved || flushed.what == status::later);
    if (flushed.what == status::moved && sent < data.size()) {
      const byte_stream::outcome now = client->send(std::span(data).subspan(sent));
      ASSERT_EQ(now.what, status::moved);
      ASSERT_LE(now.bytes, std::size_t{64} << 10) << "not all at once";
      sent += now.bytes;
    }
    if (flushed.what == status::later || sent == data.size()) {
      const byte_stream::outcome got = server->receive(room);
      ASSERT_TRUE(got.what == status::moved || got.what == status::partial || got.what == status::later);
      found.insert(found.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(got.bytes));
    }
  }
  EXPECT_TRUE(found == data);
}

TEST_F(established_tls, gives_what_is_left_in_small_pieces_without_the_socket) {
  ASSERT_EQ(client->send(pattern(100)).bytes, 100U);
  ASSERT_EQ(client->flush().what, status::moved);
  bytes room(30);
  ASSERT_EQ(receive_some(*server, room).bytes, 30U);
  EXPECT_TRUE(server->has_input());
  client->close();
  bytes rest(100);
  const byte_stream::outcome got = server->receive(rest);
  EXPECT_EQ(got.what, status::moved);
  EXPECT_EQ(got.bytes, 70U);
}

TEST_F(established_tls, an_end_in_order_is_no_loss) {
  ASSERT_EQ(client->send(pattern(10)).bytes, 10U);
  client->end();
  ASSERT_EQ(client->flush().what, status::moved);
  client->close();
  EXPECT_EQ(client->unsent(), 0U) << "closed";
  bytes room(100);
  EXPECT_EQ(receive_some(*server, room).bytes, 10U) << "what was sent before the end";
  const byte_stream::outcome end = receive_some(*server, room);
  EXPECT_EQ(end.what, status::failed);
  EXPECT_EQ(end.error, 0);
}

TEST_F(established_tls, a_connection_that_is_cut_is_lost) {
  client->close();
  bytes room(100);
  EXPECT_EQ(receive_some(*server, room).what, status::lost);
}

TEST_F(established_tls, what_a_stranger_writes_into_it_fails) {
  const bytes record = {std::byte{23}, std::byte{3}, std::byte{3}, std::byte{0}, std::byte{20}};
  bytes forged(25, std::byte{7});
  std::copy(record.begin(), record.end(), forged.begin());
  ASSERT_EQ(::send(raw_client, forged.data(), forged.size(), MSG_NOSIGNAL), 25);
  bytes room(100);
  const byte_stream::outcome got = receive_some(*server, room);
  EXPECT_EQ(got.what, status::failed);
  EXPECT_EQ(got.error, EBADMSG);
  EXPECT_NE(server->failure(), "");
  EXPECT_TRUE(server->has_input()) << "it fails again, without the socket";
  EXPECT_EQ(server->receive(room).what, status::failed);
}

TEST_F(established_tls, lanes_take_session_and_socket_over) {
  const auto here = client->make_blocking();
  const auto there = server->make_blocking();
  EXPECT_LT(client->socket(), 0);
  EXPECT_EQ(client->unsent(), 0U);
  const bytes data = pattern(500'000);
  std::thread sender([&] { EXPECT_TRUE(here->send(pattern(3), data, blocking_stream::rest::goes)); });
  bytes found;
  while (found.size() < data.size() + 3) {
    bytes room(100'000);
    const long got = there->receive(room);
    ASSERT_GT(got, 0);
    found.insert(found.end(), room.begin(), room.begin() + got);
  }
  sender.join();
  EXPECT_TRUE(std::equal(data.begin(), data.end(), found.begin() + 3));
  here->end();
  bytes room(10);
  EXPECT_LE(there->receive(room), 0);
}

}  // namespace
}  // namespace ham::transport::tcp::test
