// What the head of a frame is decoded to, and which heads are refused.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "core/frame_header.hpp"

namespace frame_header_test {

using namespace ham;
using detail::frame_header;
using detail::to_byte;
using detail::wire_kind;
using transport::frame_head;

void expect_same(const frame_head& got, const frame_head& wanted) {
  EXPECT_EQ(got.key, wanted.key);
  EXPECT_EQ(got.call, wanted.call);
  EXPECT_EQ(got.kind, wanted.kind);
}

TEST(frame_header, every_kind_that_there_is_and_no_other_one) {
  const std::set<int> kinds{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0x21, 0x41, 0x61, 0x45};
  for (int kind = 0; kind < 256; ++kind) {
    const frame_head head{7, 8, static_cast<std::uint8_t>(kind)};
    EXPECT_EQ(frame_header::known(head), kinds.count(kind) == 1) << kind;
    if (kinds.count(kind) == 1) {
      expect_same(frame_header::decode(head).encode(), head);
      continue;
    }
    try {
      (void)frame_header::decode(head);
      ADD_FAILURE() << kind;
    } catch (const protocol_error& error) {
      EXPECT_NE(std::string(error.what()).find("a frame of unknown kind " + std::to_string(kind)), std::string::npos)
          << error.what();
    }
  }
}

TEST(frame_header, of_a_call) {
  const frame_header plain = frame_header::decode({12, 34, 1});
  EXPECT_EQ(plain.kind(), wire_kind::call);
  EXPECT_TRUE(plain.is_call() && plain.is_call_of_main_queue());
  EXPECT_FALSE(plain.is_batch());
  EXPECT_EQ(plain.key(), 12U);
  EXPECT_EQ(plain.id(), 34U);
  EXPECT_EQ(plain.calls(), 1U);
  EXPECT_FALSE(plain.in_context());
  EXPECT_EQ(plain.prefix_bytes(), 0U);

  const frame_header queued = frame_header::decode({12, 0xffffffff, 0x41});
  EXPECT_EQ(queued.kind(), wire_kind::call);
  EXPECT_TRUE(queued.is_call() && queued.in_context());
  EXPECT_FALSE(queued.is_call_of_main_queue());
  EXPECT_EQ(queued.id(), detail::no_reply);
  EXPECT_EQ(queued.prefix_bytes(), 4U);
}

TEST(frame_header, of_a_batch) {
  for (const std::uint32_t calls : {0U, 1U, 5U, 0xffffffffU}) {
    const frame_header plain = frame_header::decode({calls, 0xffffffff, 5});
    EXPECT_TRUE(plain.is_batch());
    EXPECT_FALSE(plain.is_call() || plain.is_call_of_main_queue() || plain.in_context());
    EXPECT_EQ(plain.id(), detail::no_reply);
    EXPECT_EQ(plain.calls(), calls);
    const frame_header queued = frame_header::decode({calls, 0xffffffff, 0x45});
    EXPECT_TRUE(queued.is_batch() && queued.in_context());
    EXPECT_EQ(queued.calls(), calls);
    EXPECT_EQ(queued.prefix_bytes(), 4U);
  }
}

TEST(frame_header, of_a_call_that_can_be_stopped) {
  const frame_header plain = frame_header::decode({12, 34, 0x21});
  EXPECT_TRUE(plain.is_call() && plain.stoppable());
  EXPECT_FALSE(plain.is_call_of_main_queue() || plain.in_context());
  EXPECT_EQ(plain.prefix_bytes(), 8U);
  const frame_header queued = frame_header::decode({12, 34, 0x61});
  EXPECT_TRUE(queued.is_call() && queued.stoppable() && queued.in_context());
  EXPECT_EQ(queued.prefix_bytes(), 12U);
  EXPECT_FALSE(frame_header::decode({12, 34, 1}).stoppable());
  expect_same(frame_header::flagged_call(12, 34, 0x60).encode(), {12, 34, 0x61});
  expect_same(frame_header::cancel(34).encode(), {0, 34, 13});
  EXPECT_EQ(frame_header::decode({0, 34, 13}).id(), 34U);
}

TEST(frame_header, of_answers) {
  const frame_header value = frame_header::decode({0, 34, 2});
  EXPECT_EQ(value.kind(), wire_kind::reply);
  EXPECT_EQ(value.id(), 34U);
  const frame_header error = frame_header::decode({0, 34, 3});
  EXPECT_EQ(error.kind(), wire_kind::reply_error);
  EXPECT_EQ(error.id(), 34U);
  const frame_header several = frame_header::decode({0, 0xffffffff, 6});
  EXPECT_EQ(several.kind(), wire_kind::batch_reply);
  EXPECT_EQ(frame_header::decode({3, 34, 4}).kind(), wire_kind::fragment);
}

TEST(frame_header, of_the_result_of_a_replay) {
  const frame_header result = frame_header::decode({12, 0xffffffff, 14});
  EXPECT_EQ(result.kind(), wire_kind::replayed);
  EXPECT_EQ(result.replay(), 12U);
  expect_same(frame_header::replayed(12).encode(), {12, 0xffffffff, 14});
}

TEST(frame_header, as_it_is_sent) {
  expect_same(frame_header::call(12, 34, false).encode(), {12, 34, 1});
  expect_same(frame_header::call(12, detail::no_reply, true).encode(), {12, 0xffffffff, 0x41});
  expect_same(frame_header::batch(3, false).encode(), {3, 0xffffffff, 5});
  expect_same(frame_header::batch(3, true).encode(), {3, 0xffffffff, 0x45});
  expect_same(frame_header::reply(34).encode(), {0, 34, 2});
  expect_same(frame_header::reply_error(34).encode(), {0, 34, 3});
  for (const wire_kind kind : {wire_kind::batch_reply, wire_kind::hello, wire_kind::manifest, wire_kind::goodbye,
                               wire_kind::notice, wire_kind::flow}) {
    expect_same(frame_header::of(kind).encode(), {0, 0xffffffff, to_byte(kind)});
    EXPECT_EQ(frame_header::decode(frame_header::of(kind).encode()).kind(), kind);
  }
}

}  // namespace frame_header_test
