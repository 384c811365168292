// What two nodes say to each other first, and what is refused.
#include "core/greeting.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "core/wire.hpp"
#include "ham/error.hpp"

namespace greeting_test {

using namespace ham;
using detail::greeting;
using bytes = std::vector<std::byte>;

greeting sample() {
  return {{0x1122334455667788, 0x99aabbccddeeff00},
          {"some-host",
           "cpu",
           "aarch64",
           "not sent",
           12,
           std::uint64_t{3} << 40,
           4711,
           5,
           {"a GPU", "9.0", "CUDA 13.0", 132, 80}},
          "tcp://10.0.0.7:7000",
          std::uint64_t{1} << 33};
}

std::string refusal(const bytes& of) {
  try {
    static_cast<void>(greeting::decode(of));
  } catch (const protocol_error& why) {
    return why.what();
  }
  return {};
}

void put(bytes& into, std::size_t at, std::uint32_t word) {
  for (std::size_t i = 0; i < 4; ++i) into.at(at + i) = static_cast<std::byte>(word >> (8 * i));
}

TEST(greeting, arrives_as_it_was_sent) {
  const greeting sent = sample();
  const greeting got = greeting::decode(sent.encode());
  EXPECT_TRUE(got.manifest == sent.manifest);
  EXPECT_EQ(got.node.name, "some-host");
  EXPECT_EQ(got.node.device_type, "cpu");
  EXPECT_EQ(got.node.isa, "aarch64");
  EXPECT_EQ(got.node.cores, 12U);
  EXPECT_EQ(got.node.memory_bytes, std::uint64_t{3} << 40);
  EXPECT_EQ(got.node.pid, 4711);
  EXPECT_EQ(got.node.device.name, "a GPU");
  EXPECT_EQ(got.node.device.capability, "9.0");
  EXPECT_EQ(got.node.device.driver, "CUDA 13.0");
  EXPECT_EQ(got.node.device.processors, 132U);
  EXPECT_EQ(got.node.device.memory_bytes, 80U);
  EXPECT_EQ(got.address, "tcp://10.0.0.7:7000");
  EXPECT_EQ(got.max_message, std::uint64_t{1} << 33);
}

TEST(greeting, leaves_number_and_transport_to_the_receiver) {
  const greeting got = greeting::decode(sample().encode());
  EXPECT_EQ(got.node.node, -1);
  EXPECT_EQ(got.node.transport, "");
}

TEST(greeting, begins_with_magic_and_version) {
  const bytes sent = sample().encode();
  bytes wanted(8);
  put(wanted, 0, detail::hello_magic);
  put(wanted, 4, detail::protocol_version);
  EXPECT_EQ(std::memcmp(sent.data(), wanted.data(), wanted.size()), 0);
}

TEST(greeting, of_something_else_is_refused) {
  bytes other = sample().encode();
  put(other, 0, detail::hello_magic + 1);
  put(other, 4, detail::protocol_version + 1);
  EXPECT_NE(refusal(other).find("not HAM's"), std::string::npos) << refusal(other);
}

TEST(greeting, of_another_version_is_refused_with_both_versions) {
  for (const std::uint32_t version : {detail::protocol_version - 1, detail::protocol_version + 1}) {
    bytes other = sample().encode();
    put(other, 4, version);
    EXPECT_NE(refusal(other).find("version " + std::to_string(version)), std::string::npos);
    EXPECT_NE(refusal(other).find("speaks version " + std::to_string(detail::protocol_version)), std::string::npos);
  }
}

TEST(greeting, that_is_cut_off_or_too_long_is_refused) {
  const bytes sent = sample().encode();
  for (std::size_t size = 0; size < sent.size(); ++size)
    EXPECT_NE(refusal(bytes(sent.begin(), sent.begin() + static_cast<std::ptrdiff_t>(size))), "") << size;
  bytes longer = sent;
  longer.push_back({});
  EXPECT_NE(refusal(longer), "");
  EXPECT_EQ(refusal(sent), "");
}

}  // namespace greeting_test
