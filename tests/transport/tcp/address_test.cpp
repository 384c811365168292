// Addresses in text: what is understood, what is refused, what counts as this machine.
#include "transport/tcp/address.hpp"

#include <gtest/gtest.h>

#include "ham/error.hpp"

namespace ham::inline v1::transport::tcp {
namespace {

socket_address first(const std::string& text) {
  std::string why;
  const auto all = resolve(parse_address(text), false, why);
  EXPECT_FALSE(all.empty()) << text << ": " << why;
  return all.empty() ? socket_address() : all.front();
}

TEST(tcp_address, is_split) {
  EXPECT_EQ(parse_address("10.0.0.7:7000").host, "10.0.0.7");
  EXPECT_EQ(parse_address("10.0.0.7:7000").port, "7000");
  EXPECT_EQ(parse_address("[fe80::1%eth0]:0").host, "fe80::1%eth0");
  EXPECT_EQ(parse_address("node7:65535").host, "node7");
  EXPECT_EQ(parse_bind("::1").host, "::1");
  EXPECT_EQ(parse_bind("::1").port, "0");
  EXPECT_EQ(parse_bind("[::]:70").port, "70");
  EXPECT_EQ(parse_bind("127.0.0.1").port, "0");
  EXPECT_EQ(parse_bind("127.0.0.1:9").port, "9");
}

TEST(tcp_address, nonsense_is_refused_with_advice) {
  for (const char* text : {"", ":", ":7000", "host", "host:", "host:65536", "host:-1", "host:7a", "[::1", "[::1]",
                           "[::1]7000", "[]:7000", "::1:7000", "a b:1", "host:1/2", "host:000001"}) {
    try {
      static_cast<void>(parse_address(text));
      ADD_FAILURE() << text;
    } catch (const config_error& error) {
      EXPECT_NE(std::string(error.what()).find("ADDR:PORT"), std::string::npos) << error.what();
    }
  }
}

TEST(tcp_address, loopback_is_what_no_other_machine_sees) {
  for (const char* text : {"127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "[::ffff:127.0.0.1]:1"}) {
    EXPECT_TRUE(first(text).is_loopback()) << text;
  }
  for (const char* text : {"0.0.0.0:1", "[::]:1", "10.0.0.1:1", "128.0.0.1:1", "[fe80::1]:1", "[::ffff:10.0.0.1]:1"}) {
    EXPECT_FALSE(first(text).is_loopback()) << text;
  }
  EXPECT_TRUE(first("0.0.0.0:1").is_any());
  EXPECT_TRUE(first("[::]:1").is_any());
  EXPECT_FALSE(first("127.0.0.1:1").is_any());
}

TEST(tcp_address, text_can_be_read_again) {
  for (const char* text : {"127.0.0.1:80", "[::1]:7000", "10.1.2.3:65535"}) EXPECT_EQ(first(text).text(), text);
  socket_address address = first("127.0.0.1:80");
  address.set_port(81);
  EXPECT_EQ(address.port(), 81);
  EXPECT_TRUE(address.same_host(first("127.0.0.1:1")));
  EXPECT_TRUE(address.same_host(first("[::ffff:127.0.0.1]:1")));
  EXPECT_FALSE(address.same_host(first("127.0.0.2:80")));
  EXPECT_FALSE(address.same_host(first("[::1]:80")));
}

TEST(tcp_address, names_that_do_not_exist_say_so) {
  std::string why;
  EXPECT_TRUE(resolve(parse_address("name.invalid:1"), false, why).empty());
  EXPECT_FALSE(why.empty());
}

}  // namespace
}  // namespace ham::transport::tcp
