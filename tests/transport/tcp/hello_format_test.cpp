// Greetings on the wire: round trips, and everything that must be refused.
#include "transport/tcp/hello_format.hpp"

#include <gtest/gtest.h>

#include <array>

namespace ham::inline v1::transport::tcp {
namespace {

hello a_hello() {
  hello what;
  what.what = purpose::reach;
  what.flags = has_memory;
  what.port = 0xbeef;
  what.from = 3;
  what.to = 4;
  what.nonce = 0x1122334455667788;
  what.job.fill(std::byte{9});
  what.job_key.fill(std::byte{8});
  return what;
}

using hello_bytes = std::array<std::byte, hello::bytes>;
using welcome_bytes = std::array<std::byte, welcome::bytes>;

TEST(tcp_hello_format, round_trip) {
  hello_bytes bytes;
  store_hello(bytes.data(), a_hello());
  hello out;
  ASSERT_EQ(read_hello(bytes, out), nullptr);
  EXPECT_EQ(out.what, purpose::reach);
  EXPECT_EQ(out.flags, has_memory);
  EXPECT_EQ(out.port, 0xbeef);
  EXPECT_EQ(out.from, 3);
  EXPECT_EQ(out.to, 4);
  EXPECT_EQ(out.nonce, 0x1122334455667788U);
  EXPECT_EQ(out.job, a_hello().job);
  EXPECT_EQ(out.job_key, a_hello().job_key);
}

TEST(tcp_hello_format, every_field_is_checked) {
  const auto refused = [](auto change) {
    hello_bytes bytes;
    store_hello(bytes.data(), a_hello());
    change(bytes);
    hello out;
    return read_hello(bytes, out) != nullptr;
  };
  for (const std::size_t at : {0U, 3U, 4U, 5U, 26U, 27U, 30U, 31U, 42U, 47U}) {
    EXPECT_TRUE(refused([&](hello_bytes& bytes) { bytes[at] ^= std::byte{0x80}; })) << at;
  }
  EXPECT_TRUE(refused([](hello_bytes& bytes) { bytes[6] = std::byte{0}; })) << "purpose";
  EXPECT_TRUE(refused([](hello_bytes& bytes) { bytes[6] = std::byte{5}; })) << "purpose";
  EXPECT_TRUE(refused([](hello_bytes& bytes) { bytes[7] = std::byte{2}; })) << "flags";
  EXPECT_TRUE(refused([](hello_bytes& bytes) { bytes[28] = bytes[24]; })) << "to itself";
  EXPECT_FALSE(refused([](hello_bytes&) {}));
}

TEST(tcp_hello_format, welcome) {
  welcome_bytes bytes;
  store_welcome(bytes.data(), {verdict::crossed, has_memory, 700, 0xdeadbeef, 99});
  welcome out;
  ASSERT_EQ(read_welcome(bytes, 99, out), nullptr);
  EXPECT_EQ(out.answer, verdict::crossed);
  EXPECT_EQ(out.port, 700);
  EXPECT_EQ(out.epoch, 0xdeadbeefU);
  EXPECT_EQ(out.flags, has_memory);
  EXPECT_NE(read_welcome(bytes, 98, out), nullptr) << "of another greeting";
  for (const std::size_t at : {0U, 4U, 6U, 7U, 8U, 22U, 23U}) {
    welcome_bytes changed = bytes;
    changed[at] ^= std::byte{0x40};
    EXPECT_NE(read_welcome(changed, 99, out), nullptr) << at;
  }
}

}  // namespace
}  // namespace ham::transport::tcp
