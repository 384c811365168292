// A node's messages to itself: order, room, and what a child of fork sees.
#include "core/self_endpoint.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>

namespace ham::inline v1::detail {
namespace {

class self_endpoint_test : public testing::Test {
 protected:
  bool send(std::string_view text, std::uint32_t key) {
    std::byte* const room = at.reserve(text.size());
    if (room == nullptr) return false;
    std::memcpy(room, text.data(), text.size());
    at.commit({key, 0, 1});
    return true;
  }
  std::string receive(std::uint32_t key) {
    transport::frame got;
    if (!at.poll(got)) return "nothing";
    EXPECT_EQ(got.head.key, key);
    std::string text(reinterpret_cast<const char*>(got.payload.data()), got.payload.size());
    at.release();
    return text;
  }
  int committed = 0;
  self_endpoint at{3, [this] { ++committed; }};
};

TEST_F(self_endpoint_test, gives_messages_in_their_order) {
  EXPECT_TRUE(at.empty());
  EXPECT_TRUE(send("one", 1));
  EXPECT_TRUE(send("", 2));
  EXPECT_EQ(committed, 2);
  EXPECT_EQ(at.queued(), 2U);
  EXPECT_EQ(receive(1), "one");
  EXPECT_EQ(receive(2), "");
  EXPECT_EQ(receive(0), "nothing");
}

TEST_F(self_endpoint_test, forgets_what_was_cancelled) {
  ASSERT_NE(at.reserve(100), nullptr);
  at.cancel();
  EXPECT_TRUE(at.empty());
  EXPECT_TRUE(send("next", 1));
  EXPECT_EQ(receive(1), "next");
  EXPECT_EQ(committed, 1);
}

TEST_F(self_endpoint_test, has_an_end_and_then_room_again) {
  std::uint32_t sent = 0;
  while (sent < 100'000 && send("x", sent)) ++sent;
  ASSERT_LT(sent, 100'000U) << "it is bounded";
  ASSERT_GT(sent, 100U);
  EXPECT_EQ(receive(0), "x");
  EXPECT_TRUE(send("x", sent));
  EXPECT_FALSE(send("x", sent + 1));
  for (std::uint32_t key = 1; key <= sent; ++key) ASSERT_EQ(receive(key), "x");
  EXPECT_TRUE(at.empty());
}

TEST_F(self_endpoint_test, is_empty_in_a_child) {
  ASSERT_TRUE(send("the parent's", 1));
  at.detach_after_fork();
  EXPECT_TRUE(at.empty());
  EXPECT_EQ(receive(0), "nothing");
}

}  // namespace
}  // namespace ham::detail
