// TLS sessions between two ends in memory: only the right key, only TLS 1.3, nothing that was changed on the way.
#include <gtest/gtest.h>

#include <cstring>

#include "transport/tcp/nodes.hpp"

namespace ham::inline v1::transport::tcp::test {
namespace {

class tls : public testing::Test {
 protected:
  void SetUp() override {
    if (!tls_built()) GTEST_SKIP() << why_no_tls();
  }
};

std::shared_ptr<tls_context> context(tls_role role, int key, const char* identity = job_identity) {
  return std::make_shared<tls_context>(role, key_of(key), identity, tested_records());
}

/// Everything that one has said goes to the other.
std::size_t carry(tls_session& from, tls_session& to) {
  std::vector<std::byte>& out = from.output();
  const std::size_t size = out.size();
  if (size == 0) return 0;
  const std::span<std::byte> room = to.input_room(size);
  std::memcpy(room.data(), out.data(), size);
  to.feed(size);
  out.clear();
  return size;
}

struct shaken {
  tls_session::status client;
  tls_session::status server;
};

shaken shake(tls_session& client, tls_session& server) {
  shaken now{tls_session::status::want_input, tls_session::status::want_input};
  for (int i = 0; i < 20; ++i) {
    if (now.client == tls_session::status::want_input) now.client = client.shake_hands();
    carry(client, server);
    if (now.server == tls_session::status::want_input) now.server = server.shake_hands();
    carry(server, client);
  }
  return now;
}

bytes read_all(tls_session& from) {
  bytes result;
  std::byte buffer[1000];
  long got = 0;
  while ((got = from.read(buffer)) > 0) result.insert(result.end(), buffer, buffer + got);
  return result;
}

TEST_F(tls, both_directions_with_one_key) {
  tls_session client(context(tls_role::client, 1));
  tls_session server(context(tls_role::server, 1));
  const shaken now = shake(client, server);
  ASSERT_EQ(now.client, tls_session::status::done) << client.failure();
  ASSERT_EQ(now.server, tls_session::status::done) << server.failure();
  for (const std::size_t size : {1U, 100U, 16384U, 16385U, 100'000U}) {
    const bytes sent(size, std::byte{7});
    ASSERT_TRUE(client.write(sent));
    EXPECT_GT(carry(client, server), size) << "it is not plaintext";
    EXPECT_EQ(read_all(server), sent);
    ASSERT_TRUE(server.write(sent));
    carry(server, client);
    EXPECT_EQ(read_all(client), sent);
  }
}

TEST_F(tls, another_key_or_identity_fails_on_both_sides) {
  const std::pair<int, const char*> others[] = {{2, job_identity}, {1, invite_identity}, {1, ""}, {1, "ham-job-12"}};
  for (const auto& [key, identity] : others) {
    if (*identity == 0) continue;
    tls_session client(context(tls_role::client, key, identity));
    tls_session server(context(tls_role::server, 1));
    const shaken now = shake(client, server);
    EXPECT_NE(now.client, tls_session::status::done) << key << identity;
    EXPECT_EQ(now.server, tls_session::status::failed) << key << identity;
  }
}

TEST_F(tls, one_changed_bit_is_noticed_wherever_it_is) {
  for (int position = 0; position < 60; position += ham::test::unless_sanitized(1, 4)) {
    tls_session client(context(tls_role::client, 1));
    tls_session server(context(tls_role::server, 1));
    ASSERT_EQ(shake(client, server).server, tls_session::status::done);
    ASSERT_TRUE(client.write(bytes(40, std::byte{3})));
    std::vector<std::byte>& wire = client.output();
    const std::size_t at = static_cast<std::size_t>(position) % wire.size();
    wire[at] ^= std::byte{1};
    carry(client, server);
    EXPECT_TRUE(read_all(server).empty()) << at;
  }
}

TEST_F(tls, records_cannot_be_repeated_or_left_out) {
  tls_session client(context(tls_role::client, 1));
  tls_session server(context(tls_role::server, 1));
  ASSERT_EQ(shake(client, server).server, tls_session::status::done);
  ASSERT_TRUE(client.write(bytes(10, std::byte{1})));
  const std::vector<std::byte> first = client.output();
  carry(client, server);
  EXPECT_EQ(read_all(server).size(), 10U);
  client.output() = first;
  carry(client, server);
  EXPECT_TRUE(read_all(server).empty());

  tls_session other_client(context(tls_role::client, 1));
  tls_session other_server(context(tls_role::server, 1));
  ASSERT_EQ(shake(other_client, other_server).server, tls_session::status::done);
  ASSERT_TRUE(other_client.write(bytes(10, std::byte{1})));
  other_client.output().clear();
  ASSERT_TRUE(other_client.write(bytes(10, std::byte{2})));
  carry(other_client, other_server);
  EXPECT_TRUE(read_all(other_server).empty());
}

TEST_F(tls, a_recorded_handshake_cannot_be_played_again) {
  std::vector<std::byte> recorded;
  {
    tls_session client(context(tls_role::client, 1));
    tls_session server(context(tls_role::server, 1));
    for (int i = 0; i < 10; ++i) {
      static_cast<void>(client.shake_hands());
      recorded.insert(recorded.end(), client.output().begin(), client.output().end());
      carry(client, server);
      static_cast<void>(server.shake_hands());
      carry(server, client);
    }
    ASSERT_TRUE(client.write(bytes(10, std::byte{1})));
    recorded.insert(recorded.end(), client.output().begin(), client.output().end());
  }
  tls_session server(context(tls_role::server, 1));
  const std::span<std::byte> room = server.input_room(recorded.size());
  std::memcpy(room.data(), recorded.data(), recorded.size());
  server.feed(recorded.size());
  EXPECT_NE(server.shake_hands(), tls_session::status::done);
  EXPECT_NE(server.shake_hands(), tls_session::status::done);
}

TEST_F(tls, the_key_is_not_said_in_the_clear) {
  tls_session client(context(tls_role::client, 0x41));
  static_cast<void>(client.shake_hands());
  const std::vector<std::byte>& said = client.output();
  const bytes piece(8, std::byte{0x41});
  EXPECT_EQ(std::search(said.begin(), said.end(), piece.begin(), piece.end()), said.end());
}

}  // namespace
}  // namespace ham::transport::tcp::test
