// Addresses of processes that wait.
#include "transport/network_address.hpp"

#include <gtest/gtest.h>

namespace ham::inline v1::transport {
namespace {

TEST(network_address, host_and_port) {
  EXPECT_EQ(network_address::parse("host:7000"), (network_address{"host", 7000}));
  EXPECT_EQ(network_address::parse("[::1]:65535"), (network_address{"::1", 65535}));
  for (const char* text : {"", ":", "host", "host:", ":1", "host:-1", "::1:1", "[]:1", "[::1]", "host:0", "host:+1"}) {
    EXPECT_FALSE(network_address::parse(text)) << text;
  }
}

TEST(network_address, is_written_as_it_was_read) {
  for (const char* text : {"host:7000", "[::1]:65535", "10.0.0.7:1"}) {
    EXPECT_EQ(network_address::parse(text).value().text(), text);
  }
}

}  // namespace
}  // namespace ham::transport
