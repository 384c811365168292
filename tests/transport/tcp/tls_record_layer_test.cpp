// Records of either maker against OpenSSL's: each understands the other, also after new keys.
#if defined(HAM_TCP_TLS)
#include "transport/tcp/tls_record_layer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "transport/tcp/tls_reference.hpp"

namespace ham::inline v1::transport::tcp::test {
namespace {

constexpr std::size_t sizes[] = {1, 24, 1000, 1024, 1025, 2047, 2048, 5000, 16384, 16385, 100'000};

/// In both roles, with the records of both.
class record_layers : public testing::TestWithParam<std::tuple<tls_role, tls_records>> {
 protected:
  static tls_role role() { return std::get<0>(GetParam()); }
  static std::shared_ptr<tls_context> context() {
    return std::make_shared<tls_context>(role(), key_of(1), job_identity, std::get<1>(GetParam()));
  }
  void SetUp() override { theirs_.shake(ours_); }

  void both_ways() {
    for (const std::size_t size : sizes) {
      const bytes sent = pattern(size);
      ASSERT_TRUE(ours_.write(sent));
      theirs_.take_from(ours_);
      EXPECT_EQ(read_all(theirs_.ssl()), sent) << size;
      for (const std::size_t room : {std::size_t{100}, std::size_t{16384}, size}) {
        ASSERT_EQ(SSL_write(theirs_.ssl(), sent.data(), static_cast<int>(size)), static_cast<int>(size));
        theirs_.give_to(ours_);
        EXPECT_EQ(read_all(ours_, room), sent) << size << ", " << room << " at a time";
      }
    }
  }

  tls_session ours_{context()};
  reference theirs_{opposite(role())};
};

INSTANTIATE_TEST_SUITE_P(, record_layers,
                         testing::Combine(testing::Values(tls_role::client, tls_role::server),
                                          testing::Values(tls_records::ham, tls_records::openssl)),
                         [](const auto& one) {
                           const bool client = std::get<0>(one.param) == tls_role::client;
                           const bool openssl = std::get<1>(one.param) == tls_records::openssl;
                           return std::string(client ? "client" : "server") + (openssl ? "_by_openssl" : "");
                         });

TEST_P(record_layers, openssl_understands_them_and_is_understood) { both_ways(); }

TEST_P(record_layers, new_keys_are_announced_and_followed) {
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(ours_.renew());
    ASSERT_EQ(SSL_key_update(theirs_.ssl(), SSL_KEY_UPDATE_NOT_REQUESTED), 1);
    both_ways();
  }
}

TEST_P(record_layers, the_end_is_an_end) {
  static_cast<void>(SSL_shutdown(theirs_.ssl()));
  theirs_.give_to(ours_);
  std::byte buffer[100];
  EXPECT_LT(ours_.read(buffer), 0);
  EXPECT_EQ(ours_.failure(), "the connection ended");
  EXPECT_LT(ours_.read(buffer), 0) << "for good";
}

TEST_P(record_layers, what_does_not_verify_leaves_nothing) {
  const bytes sent = pattern(5000);
  ASSERT_TRUE(ours_.write(sent));
  tls_session another(context());
  const reference stranger(opposite(role()));
  stranger.shake(another);
  std::vector<std::byte>& wire = ours_.output();  // good, but of another connection
  std::memcpy(another.input_room(wire.size()).data(), wire.data(), wire.size());
  another.feed(wire.size());
  bytes buffer(6000, std::byte{9});
  EXPECT_LT(another.read(buffer), 0);
  const std::byte untouched{9};
  const std::byte kept = std::get<1>(GetParam()) == tls_records::openssl ? untouched : std::byte{0};
  EXPECT_TRUE(std::all_of(buffer.begin(), buffer.begin() + 5000, [&](std::byte one) { return one == kept; }));
}

TEST_P(record_layers, new_keys_that_are_asked_for_come_before_the_next_data) {
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(SSL_key_update(theirs_.ssl(), SSL_KEY_UPDATE_REQUESTED), 1);
    ASSERT_EQ(SSL_write(theirs_.ssl(), "data", 4), 4);
    theirs_.give_to(ours_);
    EXPECT_EQ(read_all(ours_, 100).size(), 4U);
    ASSERT_TRUE(ours_.write(pattern(10)));
    EXPECT_EQ(ours_.output().size(), record_overhead + 5 + record_overhead + 10) << "an update and the data";
    theirs_.take_from(ours_);
    EXPECT_EQ(read_all(theirs_.ssl()), pattern(10));
    both_ways();
  }
}

TEST_P(record_layers, close_notify_is_said_and_understood) {
  ASSERT_TRUE(ours_.write(pattern(10)));
  ours_.end();
  EXPECT_FALSE(ours_.write(pattern(1))) << "it has ended";
  theirs_.take_from(ours_);
  EXPECT_EQ(read_all(theirs_.ssl()), pattern(10));
  EXPECT_EQ(SSL_get_shutdown(theirs_.ssl()), SSL_RECEIVED_SHUTDOWN);
  static_cast<void>(SSL_shutdown(theirs_.ssl()));
  theirs_.give_to(ours_);
  std::byte buffer[100];
  EXPECT_LT(ours_.read(buffer), 0);
  EXPECT_TRUE(ours_.ended());
}

TEST_P(record_layers, keys_do_not_stay_in_use_for_ever) {
  constexpr std::uint64_t limit = 4;
  tls_session ours(context(), limit);
  const reference theirs(opposite(role()));
  theirs.shake(ours);
  for (int i = 0; i < 3; ++i) {
    for (std::uint64_t n = 0; n < limit; ++n) ASSERT_EQ(SSL_write(theirs.ssl(), "data", 4), 4);
    ASSERT_EQ(SSL_key_update(theirs.ssl(), SSL_KEY_UPDATE_NOT_REQUESTED), 1);  // one record more, with the old key
    theirs.give_to(ours);
    EXPECT_EQ(read_all(ours, 100).size(), 4 * limit);
  }
  for (std::uint64_t n = 0; n < limit + 3; ++n) ASSERT_EQ(SSL_write(theirs.ssl(), "data", 4), 4);
  theirs.give_to(ours);
  static_cast<void>(read_all(ours, 100));
  EXPECT_NE(ours.failure().find("too many records"), std::string::npos) << ours.failure();
  // This side keeps to it.
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(ours.write(pattern(10)));
  EXPECT_EQ(ours.output().size(), 20 * (record_overhead + 10) + 4 * (record_overhead + 5));
}

}  // namespace
}  // namespace ham::transport::tcp::test
#endif
