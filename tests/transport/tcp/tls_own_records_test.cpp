// What a peer with the key may try against HAM's records: each attempt is refused with the alert for it.
#if defined(HAM_TCP_TLS)
#include "transport/tcp/tls_own_records.hpp"

#include <gtest/gtest.h>
#include <openssl/err.h>

#include <cstring>

#include "transport/tcp/tls_reference.hpp"

namespace ham::inline v1::transport::tcp::test {
namespace {

/// A peer that knows all secrets and writes what it likes.
class crafted_records : public testing::TestWithParam<tls_role> {
 protected:
  void SetUp() override {
    theirs_.shake(ours_);
    using enum handshake_secrets::which;
    const bool client = GetParam() == tls_role::client;
    ASSERT_TRUE(sealing_.begin(theirs_.secrets()[client ? server_traffic : client_traffic]));
    ASSERT_TRUE(opening_.begin(theirs_.secrets()[client ? client_traffic : server_traffic]));
  }

  void feed(std::span<const std::byte> wire) {
    std::memcpy(ours_.input_room(wire.size()).data(), wire.data(), wire.size());
    ours_.feed(wire.size());
  }
  void send(const bytes& content, content_type type) {
    bytes wire(content.size() + record_overhead);
    ASSERT_TRUE(sealing_.seal(content, type, wire.data()));
    feed(wire);
  }
  [[nodiscard]] long read() {
    std::byte buffer[100];
    return ours_.read(buffer);
  }
  /// What ours says at its end.
  void expect_alert(tls_alert what) {
    ours_.output().clear();
    ours_.end();
    bytes wire = ours_.output();
    ASSERT_EQ(wire.size(), record_overhead + 2) << ours_.failure();
    content_type type{};
    ASSERT_TRUE(opening_.open(wire, nullptr, type));
    EXPECT_EQ(type, content_type::alert);
    EXPECT_EQ(wire[record_head_bytes], std::byte{2}) << "fatal";
    EXPECT_EQ(static_cast<tls_alert>(wire[record_head_bytes + 1]), what) << ours_.failure();
  }
  static bytes of(std::initializer_list<int> values) {
    bytes result;
    for (const int one : values) result.push_back(static_cast<std::byte>(one));
    return result;
  }

  tls_session ours_{std::make_shared<tls_context>(GetParam(), key_of(1), job_identity)};
  reference theirs_{opposite(GetParam())};
  record_keys sealing_{tls_session::usual_record_limit};
  record_keys opening_{tls_session::usual_record_limit};
};

INSTANTIATE_TEST_SUITE_P(, crafted_records, testing::Values(tls_role::client, tls_role::server),
                         [](const auto& one) { return one.param == tls_role::client ? "client" : "server"; });

struct refusal {
  const char* what;
  content_type type;
  std::initializer_list<int> content;
  tls_alert alert;
};
const refusal refusals[] = {
    {"an unknown kind of update", content_type::handshake, {24, 0, 0, 1, 2}, tls_alert::illegal_parameter},
    {"an update of no kind", content_type::handshake, {24, 0, 0, 0}, tls_alert::decode_error},
    {"an update with more behind it", content_type::handshake, {24, 0, 0, 1, 0, 0}, tls_alert::decode_error},
    {"two updates", content_type::handshake, {24, 0, 0, 1, 0, 24, 0, 0, 1, 0}, tls_alert::decode_error},
    {"an update of another length", content_type::handshake, {24, 0, 1, 1, 0}, tls_alert::decode_error},
    {"a new ticket", content_type::handshake, {4, 0, 0, 1, 0}, tls_alert::unexpected_message},
    {"half a message", content_type::handshake, {24, 0, 0}, tls_alert::unexpected_message},
    {"nothing", content_type::handshake, {}, tls_alert::unexpected_message},
    {"half an alert", content_type::alert, {2}, tls_alert::decode_error},
    {"an unknown type", static_cast<content_type>(99), {1}, tls_alert::unexpected_message},
    {"padding", static_cast<content_type>(0), {1, 23}, tls_alert::unexpected_message},
};

TEST_P(crafted_records, every_wrong_one_is_refused_with_its_alert) {
  for (const refusal& one : refusals) {
    SCOPED_TRACE(one.what);
    tls_session ours(std::make_shared<tls_context>(GetParam(), key_of(1), job_identity));
    const reference theirs(opposite(GetParam()));
    theirs.shake(ours);
    record_keys sealing(tls_session::usual_record_limit);
    const bool client = GetParam() == tls_role::client;
    ASSERT_TRUE(sealing.begin(
        theirs.secrets()[client ? handshake_secrets::server_traffic : handshake_secrets::client_traffic]));
    const bytes content = of(one.content);
    bytes wire(content.size() + record_overhead);
    ASSERT_TRUE(sealing.seal(content, one.type, wire.data()));
    std::memcpy(ours.input_room(wire.size()).data(), wire.data(), wire.size());
    ours.feed(wire.size());
    std::byte buffer[100];
    EXPECT_LT(ours.read(buffer), 0);
    EXPECT_FALSE(ours.ended());
    ours.end();
    theirs.take_from(ours);
    EXPECT_LE(SSL_read(theirs.ssl(), buffer, sizeof buffer), 0);
    EXPECT_EQ(ERR_GET_REASON(ERR_peek_last_error()), SSL_AD_REASON_OFFSET + static_cast<int>(one.alert))
        << ours.failure() << "; OpenSSL: " << ERR_reason_error_string(ERR_peek_last_error());
    ERR_clear_error();
  }
}

TEST_P(crafted_records, one_that_does_not_verify_is_answered_by_an_alert) {
  bytes wire(100);
  ASSERT_TRUE(sealing_.seal(pattern(100 - record_overhead), content_type::data, wire.data()));
  wire.back() ^= std::byte{1};
  feed(wire);
  EXPECT_LT(read(), 0);
  expect_alert(tls_alert::bad_record_mac);
}

TEST_P(crafted_records, one_is_as_long_as_it_may_be) {
  send(pattern(largest_content), content_type::data);
  EXPECT_EQ(read_all(ours_, 1000).size(), largest_content);
  const std::size_t body = largest_content + record_tail_bytes + 1;
  feed(of({23, 3, 3, static_cast<int>(body >> 8), static_cast<int>(body & 0xff)}));
  EXPECT_LT(read(), 0) << "already its head says too much";
  expect_alert(tls_alert::record_overflow);
}

TEST_P(crafted_records, few_without_data_are_taken_and_then_no_more) {
  const bytes update = of({24, 0, 0, 1, 0});
  for (int i = 0; i < 100; ++i) {
    for (int empty = 0; empty < 16; ++empty) send({}, content_type::data);
    for (int updates = 0; updates < 16; ++updates) {
      send(update, content_type::handshake);
      ASSERT_TRUE(sealing_.update());
    }
    send(pattern(3), content_type::data);
    ASSERT_EQ(read(), 3) << i;
  }
  for (int empty = 0; empty < 33; ++empty) send({}, content_type::data);
  EXPECT_LT(read(), 0);
  expect_alert(tls_alert::unexpected_message);
}

}  // namespace
}  // namespace ham::transport::tcp::test
#endif
