// Messages that wait for room: their order, fragments, taking them back, and the count of filled outboxes.
#include "core/outbox.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "core/narrow_endpoint.hpp"

namespace outbox_test {

using namespace ham;
using detail::frame_header;
using detail::outbox;
using detail::outbox_message;
using detail::to_byte;
using detail::wire_kind;

class outbox_of_a_node : public testing::Test {
 protected:
  std::uint32_t add(frame_header head, std::size_t size = 8) {
    outbox_message message(size);
    if (size != 0) std::memset(message.data(), static_cast<int>(head.encode().call), size);
    const std::uint32_t stream = box_.add(head, message);
    EXPECT_TRUE(message.list.empty());
    return stream;
  }

  std::atomic<std::uint32_t> filled_{0};
  outbox box_{filled_};
  test::narrow_endpoint to_;
};

TEST_F(outbox_of_a_node, is_empty_at_first) {
  EXPECT_TRUE(box_.empty());
  EXPECT_TRUE(box_.flush(to_));
  EXPECT_TRUE(box_.take().empty());
  EXPECT_EQ(filled_, 0U);
}

TEST_F(outbox_of_a_node, sends_in_order_as_far_as_there_is_room) {
  for (std::uint32_t id = 1; id <= 3; ++id) add(frame_header::reply(id), id == 2 ? 0 : 8);
  EXPECT_EQ(filled_, 1U);
  EXPECT_FALSE(box_.flush(to_));
  to_.allowed = 2;
  EXPECT_FALSE(box_.flush(to_));
  EXPECT_FALSE(box_.empty());
  EXPECT_EQ(filled_, 1U);
  to_.allowed = 2;
  EXPECT_TRUE(box_.flush(to_));
  EXPECT_TRUE(box_.empty());
  EXPECT_EQ(filled_, 0U);
  ASSERT_EQ(to_.heads.size(), 3U);
  for (std::uint32_t at = 0; at < 3; ++at) {
    EXPECT_EQ(to_.heads[at].call, at + 1);
    EXPECT_EQ(to_.heads[at].kind, to_byte(wire_kind::reply));
    EXPECT_EQ(to_.payloads[at], std::vector<std::byte>(at == 1 ? 0 : 8, static_cast<std::byte>(at + 1)));
  }
}

TEST_F(outbox_of_a_node, long_messages_go_in_fragments_of_their_own_streams) {
  const std::uint32_t first = add(frame_header::call(7, 1, false), 100);
  const std::uint32_t second = add(frame_header::call(7, 2, false), 100);
  EXPECT_NE(first, second);
  to_.allowed = 100;
  EXPECT_TRUE(box_.flush(to_));
  transport::assembler pieces;
  std::vector<std::uint32_t> arrived;
  for (std::size_t at = 0; at < to_.heads.size(); ++at) {
    EXPECT_EQ(to_.heads[at].kind, to_byte(wire_kind::fragment));
    EXPECT_EQ(to_.heads[at].key, at < to_.heads.size() / 2 ? first : second);
    if (const auto message = pieces.add({to_.heads[at], to_.payloads[at]})) {
      const frame_header head = frame_header::decode(message->head);
      EXPECT_EQ(head.key(), 7U);
      EXPECT_EQ(message->bytes, std::vector<std::byte>(100, static_cast<std::byte>(head.id())));
      arrived.push_back(head.id());
    }
  }
  EXPECT_EQ(arrived, (std::vector<std::uint32_t>{1, 2}));
}

TEST_F(outbox_of_a_node, a_message_is_taken_back_if_nothing_of_it_has_left) {
  const std::uint32_t begun = add(frame_header::call(7, 1, false), 100);
  const std::uint32_t waiting = add(frame_header::batch(5, true), 100);
  to_.allowed = 1;
  EXPECT_FALSE(box_.flush(to_));
  EXPECT_FALSE(box_.withdraw(begun));
  const auto back = box_.withdraw(waiting);
  ASSERT_TRUE(back);
  EXPECT_TRUE(back->is_batch());
  EXPECT_EQ(back->calls(), 5U);
  EXPECT_FALSE(box_.withdraw(waiting));
  EXPECT_EQ(filled_, 1U);
  to_.allowed = 100;
  EXPECT_TRUE(box_.flush(to_));
  for (const transport::frame_head& head : to_.heads) EXPECT_EQ(head.key, begun);
}

TEST_F(outbox_of_a_node, a_call_is_found_by_its_id) {
  add(frame_header::reply(3));
  add(frame_header::call(7, 3, true));
  EXPECT_FALSE(box_.withdraw_call(4));
  const auto back = box_.withdraw_call(3);
  ASSERT_TRUE(back);
  EXPECT_TRUE(back->is_call() && back->in_context());
  EXPECT_FALSE(box_.withdraw_call(3)) << "the reply has the same number";
  EXPECT_FALSE(box_.empty());
}

TEST_F(outbox_of_a_node, is_not_counted_when_its_last_message_was_taken_back) {
  const std::uint32_t only = add(frame_header::call(7, 1, false));
  EXPECT_TRUE(box_.withdraw(only));
  EXPECT_TRUE(box_.empty());
  EXPECT_EQ(filled_, 0U);
}

TEST_F(outbox_of_a_node, gives_all_that_is_left_when_the_node_is_lost) {
  outbox other(filled_);
  outbox_message message(8);
  other.add(frame_header::reply(1), message);
  add(frame_header::call(7, 1, false), 100);
  add(frame_header::call(7, 2, false));
  EXPECT_EQ(filled_, 2U);
  to_.allowed = 1;
  EXPECT_FALSE(box_.flush(to_));
  const detail::message_list left = box_.take();
  ASSERT_EQ(left.size(), 2U);
  EXPECT_NE(left.front().sent, 0U);
  EXPECT_EQ(left.back().head.call, 2U);
  EXPECT_TRUE(box_.empty());
  EXPECT_EQ(filled_, 1U);
}

}  // namespace outbox_test
