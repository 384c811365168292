// What is different with OpenSSL's records: a lock, what is kept from them, and secrets that stay until the end.
#if defined(HAM_TCP_TLS)
#include "transport/tcp/tls_openssl_records.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstring>
#include <thread>

#include "transport/tcp/tls_own_records.hpp"
#include "transport/tcp/tls_reference.hpp"

namespace ham::inline v1::transport::tcp::test {
namespace {

class openssl_records : public testing::TestWithParam<tls_role> {
 protected:
  void SetUp() override {
    theirs_.shake(ours_);
    using enum handshake_secrets::which;
    ASSERT_TRUE(sealing_.begin(theirs_.secrets()[GetParam() == tls_role::client ? server_traffic : client_traffic]));
  }
  void send(std::initializer_list<int> content, content_type type) {
    bytes plain;
    for (const int one : content) plain.push_back(static_cast<std::byte>(one));
    bytes wire(plain.size() + record_overhead);
    ASSERT_TRUE(sealing_.seal(plain, type, wire.data()));
    std::memcpy(ours_.input_room(wire.size()).data(), wire.data(), wire.size());
    ours_.feed(wire.size());
  }
  [[nodiscard]] long read() {
    std::byte buffer[100];
    return ours_.read(buffer);
  }

  tls_session ours_{std::make_shared<tls_context>(GetParam(), key_of(1), job_identity, tls_records::openssl)};
  reference theirs_{opposite(GetParam())};
  record_keys sealing_{tls_session::usual_record_limit};  // as theirs
};

INSTANTIATE_TEST_SUITE_P(, openssl_records, testing::Values(tls_role::client, tls_role::server),
                         [](const auto& one) { return one.param == tls_role::client ? "client" : "server"; });

TEST_P(openssl_records, are_those_of_openssl) {
  send({1, 23, 0, 0}, static_cast<content_type>(0));  // padded: HAM's refuse it
  EXPECT_EQ(read(), 1) << ours_.failure();
}

TEST_P(openssl_records, messages_of_a_handshake_end_the_connection) {
  // Tickets, which OpenSSL's client would take, and requests for another handshake, which no side takes.
  send({4, 0, 0, 13, 0, 0, 0, 9, 0, 0, 0, 9, 0, 0, 0, 1, 7}, content_type::handshake);
  EXPECT_LT(read(), 0);
  EXPECT_FALSE(ours_.ended());
  EXPECT_LT(read(), 0) << "for good";
}

TEST_P(openssl_records, half_a_message_stops_the_writer_and_does_not_confuse_it) {
  send({24, 0, 0, 1}, content_type::handshake);
  EXPECT_EQ(read(), 0);
  EXPECT_FALSE(ours_.write(pattern(10))) << "OpenSSL wants to read first";
  EXPECT_TRUE(ours_.output().empty());
}

TEST_P(openssl_records, are_counted_by_key_updates) {
  for (int i = 0; i < 32; ++i) {
    send({24, 0, 0, 1, 0}, content_type::handshake);
    ASSERT_TRUE(sealing_.update());
  }
  EXPECT_EQ(read(), 0) << ours_.failure();
  send({24, 0, 0, 1, 0}, content_type::handshake);
  EXPECT_LT(read(), 0);
  EXPECT_NE(ours_.failure().find("without data"), std::string::npos) << ours_.failure();
}

TEST_P(openssl_records, are_read_when_they_are_complete) {
  const std::size_t size = record_overhead + 9;
  // One at a time: nothing is there before the last one.
  bytes record(size);
  ASSERT_TRUE(sealing_.seal(pattern(9), content_type::data, record.data()));
  for (std::size_t i = 0; i < size; ++i) {
    EXPECT_FALSE(ours_.has_input()) << i;
    EXPECT_EQ(read(), 0) << i;
    ours_.input_room(1)[0] = record[i];
    ours_.feed(1);
  }
  EXPECT_TRUE(ours_.has_input());
  std::byte some[4];
  EXPECT_EQ(ours_.read(some), 4);
  EXPECT_TRUE(ours_.has_input()) << "in OpenSSL's hands";
  EXPECT_EQ(ours_.read(some), 4);
  EXPECT_EQ(ours_.read(some), 1);
  EXPECT_FALSE(ours_.has_input());
}

/// Both threads of a connection at once, and new keys on the way.
TEST(openssl_record_threads, one_reads_while_another_one_writes) {
  if (!tls_built()) GTEST_SKIP() << why_no_tls();
  const auto session = [](tls_role role) {
    return std::make_unique<tls_session>(
        std::make_shared<tls_context>(role, key_of(1), job_identity, tls_records::openssl), 20);
  };
  const auto client = session(tls_role::client);
  const auto server = session(tls_role::server);
  const auto carry = [](tls_session& from, tls_session& to) {
    std::vector<std::byte>& out = from.output();
    if (out.empty()) return;
    std::memcpy(to.input_room(out.size()).data(), out.data(), out.size());
    to.feed(out.size());
    out.clear();
  };
  for (int i = 0; i < 4; ++i) {
    static_cast<void>(client->shake_hands());
    carry(*client, *server);
    static_cast<void>(server->shake_hands());
    carry(*server, *client);
  }
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const base::unique_fd first(ends[0]);
  const base::unique_fd second(ends[1]);
  constexpr std::size_t total = 3'000'000;
  const auto write_all = [](tls_session& to, int socket) {
    const bytes piece = pattern(10'007);
    for (std::size_t sent = 0; sent < total; sent += piece.size()) {
      ASSERT_TRUE(to.write(piece));
      bytes& out = to.output();
      for (std::size_t done = 0; done < out.size();) {
        const ssize_t now = ::send(socket, out.data() + done, out.size() - done, MSG_NOSIGNAL);
        ASSERT_GT(now, 0);
        done += static_cast<std::size_t>(now);
      }
      out.clear();
    }
  };
  const auto read_all = [](tls_session& from, int socket) {
    const bytes piece = pattern(10'007);
    bytes room(5000);
    for (std::size_t have = 0; have < total;) {
      const long got = from.read(room);
      ASSERT_GE(got, 0) << from.failure();
      for (long i = 0; i < got; ++i, ++have) {
        if (room[static_cast<std::size_t>(i)] != piece[have % piece.size()]) FAIL() << "byte " << have;
      }
      if (got != 0) continue;
      const std::span<std::byte> input = from.input_room(20'000);
      const ssize_t arrived = ::recv(socket, input.data(), input.size(), 0);
      ASSERT_GT(arrived, 0);
      from.feed(static_cast<std::size_t>(arrived));
    }
  };
  const int here = first.get();
  const int there = second.get();
  std::thread threads[] = {
      std::thread([&] { write_all(*client, here); }), std::thread([&] { write_all(*server, there); }),
      std::thread([&] { read_all(*client, here); }), std::thread([&] { read_all(*server, there); })};
  for (std::thread& one : threads) one.join();
}

}  // namespace
}  // namespace ham::transport::tcp::test
#endif
