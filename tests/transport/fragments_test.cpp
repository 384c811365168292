// Pieces of long messages, also of hostile senders.
#include "transport/fragments.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace ham::inline v1::transport {
namespace {

using bytes = std::vector<std::byte>;

frame piece_of(bytes& storage, std::uint32_t stream, const fragment_head& head, std::size_t size) {
  storage.assign(sizeof head + size, std::byte{1});
  std::memcpy(storage.data(), &head, sizeof head);
  return {{stream, 5, 2}, storage};
}

TEST(fragments, interleaved_streams) {
  assembler messages;
  bytes storage;
  for (std::uint64_t at = 0; at < 100; at += 10) {
    for (std::uint32_t stream = 0; stream < 20; ++stream) {
      const auto done = messages.add(piece_of(storage, stream, {100, at, 77, 1}, 10));
      EXPECT_EQ(done.has_value(), at == 90);
      if (done) {
        EXPECT_EQ(done->bytes, bytes(100, std::byte{1}));
        EXPECT_EQ(done->head.key, 77U);
        EXPECT_EQ(done->head.call, 5U);
      }
    }
  }
}

TEST(fragments, hostile_pieces) {
  const auto refused = [](const fragment_head& head, std::size_t size) {
    assembler messages;
    bytes storage;
    EXPECT_THROW((void)messages.add(piece_of(storage, 1, head, size)), protocol_error);
  };
  refused({100, 0, 1, 1}, 0);
  refused({100, 5, 1, 1}, 10);
  refused({9, 0, 1, 1}, 10);
  refused({0, 0, 1, 1}, 1);
  refused({~std::uint64_t{0}, ~std::uint64_t{0}, 1, 1}, 10);
  refused({100, 0, 1, 0x80}, 10);
  refused({100, 0, 1, ~0U}, 10);
  assembler messages;
  bytes storage;
  EXPECT_THROW((void)messages.add({{1, 1, 2}, std::span<const std::byte>()}), protocol_error);
  EXPECT_FALSE(messages.add(piece_of(storage, 1, {100, 0, 1, 1}, 10)));
  EXPECT_THROW((void)messages.add(piece_of(storage, 1, {101, 10, 1, 1}, 10)), protocol_error) << "another total";
  assembler second;
  EXPECT_FALSE(second.add(piece_of(storage, 1, {100, 0, 1, 1}, 10)));
  EXPECT_THROW((void)second.add(piece_of(storage, 1, {100, 0, 1, 1}, 10)), protocol_error) << "the same piece again";
  assembler many;
  const auto open_all = [&] {
    for (std::uint32_t stream = 0; stream <= assembler::max_streams; ++stream) {
      (void)many.add(piece_of(storage, stream, {100, 0, 1, 1}, 10));
    }
  };
  EXPECT_THROW(open_all(), protocol_error);
}

TEST(fragments, no_message_is_longer_than_the_limit) {
  bytes storage;
  assembler usual;
  EXPECT_FALSE(usual.add(piece_of(storage, 1, {usual_message_limit, 0, 1, 1}, 10)));
  EXPECT_THROW((void)usual.add(piece_of(storage, 2, {usual_message_limit + 1, 0, 1, 1}, 10)), protocol_error);
  assembler small(100);
  EXPECT_TRUE(small.add(piece_of(storage, 1, {100, 0, 1, 1}, 100)));
  EXPECT_FALSE(small.add(piece_of(storage, 1, {100, 0, 1, 1}, 60)));
  EXPECT_FALSE(small.add(piece_of(storage, 2, {100, 0, 1, 1}, 40)));
  EXPECT_THROW((void)small.add(piece_of(storage, 3, {100, 0, 1, 1}, 1)), protocol_error) << "together they are longer";
}

}  // namespace
}  // namespace ham::transport
