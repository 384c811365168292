// What a node does with one other node: keys, room in its queue, replies, and its end.
#include "core/peer.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>

#include "core/callable.hpp"
#include "core/narrow_endpoint.hpp"
#include "core/peer_table.hpp"
#include "ham/msg/manifest.hpp"

namespace peer_test {

using namespace ham;
using detail::frame_header;
using detail::outbox_message;
using detail::peer_state;
using detail::reply_room;
using detail::wire_kind;

constexpr std::uint32_t all_known = msg::invalid_key - 1;

std::string problem(const std::function<void()>& what) {
  try {
    what();
  } catch (const call_error& why) {
    return why.what();
  }
  return {};
}

class peer : public testing::Test {
 protected:
  peer() {
    who_.to = &to_;
    who_.max_payload = to_.max_payload();
    who_.state = peer_state::ready;
  }
  /// A reply of so many bytes, each of which is its id. False: it waits in the outbox.
  bool reply(std::uint32_t id, std::size_t size) {
    reply_room out;
    who_.begin_reply(size, out);
    EXPECT_EQ(out.to, &who_);
    EXPECT_FALSE(who_.sending.try_lock()) << "until it is sent the thread has the lock";
    if (size != 0) std::memset(out.data, static_cast<int>(id), size);
    if (out.queued != nullptr) return who_.finish_queued_reply(frame_header::reply(id), out);
    who_.commit(frame_header::reply(id));
    return true;
  }
  void expect_free() {
    ASSERT_TRUE(who_.sending.try_lock());
    who_.sending.unlock();
  }

  test::narrow_endpoint to_;
  detail::peer_table peers_{2};
  detail::peer& who_ = *peers_.claim(1);
};

TEST_F(peer, keys_are_its_own_where_both_have_the_same_table) {
  msg::handler_entry& function = msg::handler_registrar<test::callable>::entry();
  const std::uint32_t key = test::callable_key();
  EXPECT_EQ(who_.key_for(function, all_known, 0), key);
  const std::string why = problem([&] { static_cast<void>(who_.key_for(function, key, 0)); });
  EXPECT_NE(why.find("is unknown to node 1"), std::string::npos) << why;
  EXPECT_EQ(who_.key_for(function, key, who_.node), key) << "the own node has the same table";
}

TEST_F(peer, functions_that_were_loaded_later_are_asked_for_and_translated) {
  msg::handler_entry& function = msg::handler_registrar<test::callable>::entry();
  const std::uint32_t key = test::callable_key();
  EXPECT_FALSE(who_.must_be_asked_for(function, all_known));
  EXPECT_TRUE(who_.must_be_asked_for(function, key));
  who_.translation = std::make_unique<msg::translation>();
  EXPECT_TRUE(who_.must_be_asked_for(function, all_known));
  const std::size_t keys = msg::handler_table::local().size();
  std::unique_ptr<msg::translation> nothing;
  const std::uint64_t question = who_.begin_question();
  EXPECT_TRUE(who_.must_be_asked_for(function, all_known)) << "there is no answer yet";
  who_.take_answer(question, keys, nothing);
  EXPECT_FALSE(who_.must_be_asked_for(function, all_known)) << "not again at once";
  EXPECT_NE(problem([&] { static_cast<void>(who_.key_for(function, all_known, 0)); }), "");

  const msg::manifest mine = msg::manifest::local();
  std::vector<msg::manifest::entry> theirs{{"something else", "", msg::handler_kind::call, false}, mine.entries()[key]};
  who_.later = std::make_unique<msg::translation>(mine, msg::manifest(mine.layout(), theirs));
  who_.asked_with = 0;
  EXPECT_FALSE(who_.must_be_asked_for(function, all_known));
  EXPECT_EQ(who_.key_for(function, all_known, 0), 1U);
  EXPECT_EQ(who_.key_for(function, key, 0), 1U);

  theirs[1].layout = "i4->i8";
  who_.later = std::make_unique<msg::translation>(mine, msg::manifest(mine.layout(), theirs));
  EXPECT_NE(problem([&] { static_cast<void>(who_.key_for(function, key, 0)); }), "") << "laid out differently there";
}

TEST_F(peer, of_several_answers_that_to_the_latest_question_counts) {
  const std::size_t keys = msg::handler_table::local().size();
  const auto answer = [&](std::uint64_t question) {
    auto learned = std::make_unique<msg::translation>();
    const msg::translation* const given = learned.get();
    who_.take_answer(question, keys, learned);
    return who_.later.get() == given;
  };
  const std::uint64_t first = who_.begin_question();
  const std::uint64_t second = who_.begin_question();
  EXPECT_TRUE(answer(second));
  EXPECT_FALSE(answer(first)) << "what it had before";
  const std::uint64_t third = who_.begin_question();
  EXPECT_NE(who_.forget_functions(), nullptr);
  EXPECT_FALSE(answer(third)) << "it has got functions since";
  EXPECT_EQ(who_.asked_with, 0U);
  EXPECT_TRUE(answer(who_.begin_question()));
}

TEST_F(peer, keys_are_translated_where_tables_differ) {
  msg::handler_entry& function = msg::handler_registrar<test::callable>::entry();
  const std::uint32_t key = test::callable_key();
  const msg::manifest mine = msg::manifest::local();
  who_.translation = std::make_unique<msg::translation>(mine, mine);
  EXPECT_EQ(who_.key_for(function, all_known, 0), key);
  who_.translation = std::make_unique<msg::translation>();
  const std::string why = problem([&] { static_cast<void>(who_.key_for(function, all_known, 0)); });
  EXPECT_NE(why, "") << "the node does not have it";
}

TEST_F(peer, takes_messages_up_to_its_limit) {
  who_.max_message = 1000;
  EXPECT_EQ(problem([&] { who_.check_size(1000, "a call"); }), "");
  EXPECT_EQ(
      problem([&] { who_.check_size(1001, "a call"); }),
      "a call takes 1001 bytes, more than node 1 accepts in one message (1000); raise HAM_MAX_MESSAGE there, send "
      "less at once, or move bulk data with put and get");
  who_.max_message = 10;
  EXPECT_EQ(problem([&] { who_.check_size(64, "a call"); }), "") << "a frame always fits";
}

TEST_F(peer, calls_find_room_in_the_ring_or_in_memory_of_their_own) {
  EXPECT_EQ(who_.reserve(8, nullptr), nullptr) << "it is full";
  to_.allowed = 1;
  EXPECT_NE(who_.reserve(8, nullptr), nullptr);
  EXPECT_EQ(who_.reserve(65, nullptr), nullptr);
  outbox_message big(65);
  EXPECT_EQ(who_.reserve(65, &big), big.data());
}

TEST_F(peer, calls_do_not_overtake_what_waits) {
  EXPECT_FALSE(reply(1, 8));
  to_.allowed = 0;
  EXPECT_EQ(who_.reserve(8, nullptr), nullptr);
  to_.allowed = 2;
  EXPECT_NE(who_.reserve(8, nullptr), nullptr);
  ASSERT_EQ(to_.heads.size(), 1U) << "the reply has gone first";
  EXPECT_EQ(to_.heads[0].call, 1U);
}

TEST_F(peer, replies_go_at_once_where_there_is_room) {
  to_.allowed = 2;
  EXPECT_TRUE(reply(1, 8));
  EXPECT_TRUE(reply(2, 0));
  expect_free();
  EXPECT_EQ(to_.payloads, (std::vector<std::vector<std::byte>>{std::vector<std::byte>(8, std::byte{1}), {}}));
  EXPECT_EQ(who_.bytes_sent.bytes(), 8 + 2 * detail::traffic_counter::head_bytes);
  EXPECT_EQ(peers_.filled_outboxes(), 0U);
}

TEST_F(peer, replies_without_room_wait_and_keep_their_order) {
  EXPECT_FALSE(reply(1, 8));
  expect_free();
  EXPECT_EQ(peers_.filled_outboxes(), 1U);
  to_.allowed = 1;
  EXPECT_FALSE(reply(2, 8));
  EXPECT_EQ(to_.heads.size(), 1U);
  to_.allowed = 1;
  who_.flush_if_free();
  expect_free();
  ASSERT_EQ(to_.heads.size(), 2U);
  EXPECT_EQ(to_.heads[0].call, 1U);
  EXPECT_EQ(to_.heads[1].call, 2U);
  EXPECT_EQ(peers_.filled_outboxes(), 0U);
}

TEST_F(peer, long_replies_go_in_fragments) {
  to_.allowed = 100;
  EXPECT_TRUE(reply(1, 200));
  EXPECT_GT(to_.heads.size(), 1U);
  for (const auto& head : to_.heads) EXPECT_EQ(head.kind, detail::to_byte(wire_kind::fragment));
}

TEST_F(peer, long_replies_are_built_in_the_memory_of_the_connection) {
  to_.long_memory.resize(200);
  to_.allowed = 1;
  EXPECT_TRUE(reply(1, 200));
  ASSERT_EQ(to_.heads.size(), 1U);
  EXPECT_EQ(to_.heads[0].kind, detail::to_byte(wire_kind::reply));
  EXPECT_EQ(to_.payloads[0], std::vector<std::byte>(200, std::byte{1}));
  EXPECT_FALSE(who_.trim_if_free());
  expect_free();
  // The next one finds no room, and is cut.
  to_.allowed = 100;
  EXPECT_TRUE(reply(2, 200));
  EXPECT_EQ(to_.heads.back().kind, detail::to_byte(wire_kind::fragment));
  to_.long_used = false;
  EXPECT_TRUE(who_.trim_if_free());
}

TEST_F(peer, room_for_a_long_message_that_is_not_sent_is_given_back) {
  to_.long_memory.resize(200);
  EXPECT_TRUE(who_.takes_at_once(200));
  EXPECT_FALSE(who_.takes_at_once(201));
  reply_room out;
  who_.begin_reply(200, out);
  EXPECT_TRUE(to_.long_used);
  who_.state = peer_state::lost;
  EXPECT_TRUE(who_.finish_queued_reply(frame_header::reply(1), out));
  EXPECT_FALSE(to_.long_used) << "its receiver is lost";

  who_.state = peer_state::ready;
  outbox_message message;
  EXPECT_EQ(who_.reserve(200, &message), to_.long_memory.data());
  who_.unsent.add(frame_header::call(7, 5, false), message);
  EXPECT_FALSE(who_.unsent.flush(to_));
  EXPECT_TRUE(who_.withdraw_call(5));
  EXPECT_FALSE(to_.long_used) << "it was withdrawn";

  outbox_message last;
  EXPECT_NE(who_.reserve(200, &last), nullptr);
  outbox_message one_more;
  EXPECT_EQ(who_.reserve(200, &one_more), nullptr) << "there is no more room";
  who_.unsent.add(frame_header::call(7, 6, false), last);
  EXPECT_EQ(who_.disconnect().front().view().size(), 200U);
  EXPECT_FALSE(to_.long_used) << "the connection has ended";
}

TEST_F(peer, replies_to_who_was_lost_are_dropped) {
  reply_room out;
  who_.begin_reply(8, out);
  ASSERT_NE(out.queued, nullptr);
  who_.state = peer_state::lost;
  EXPECT_TRUE(who_.finish_queued_reply(frame_header::reply(1), out));
  expect_free();
  EXPECT_TRUE(who_.unsent.empty());
}

TEST_F(peer, nothing_is_flushed_while_another_thread_sends) {
  EXPECT_FALSE(reply(1, 8));
  to_.allowed = 1;
  who_.sending.lock();
  who_.flush_if_free();
  EXPECT_TRUE(to_.heads.empty());
  who_.sending.unlock();
}

TEST_F(peer, a_call_that_waits_is_taken_back_and_not_counted) {
  outbox_message message(100);
  who_.count_calls(2);
  who_.unsent.add(frame_header::call(7, 5, false), message);
  EXPECT_FALSE(who_.withdraw_call(6));
  EXPECT_EQ(who_.calls_sent, 2U);
  EXPECT_TRUE(who_.withdraw_call(5));
  EXPECT_EQ(who_.calls_sent, 1U);
  expect_free();
}

TEST_F(peer, its_row_tells_what_becomes_of_it) {
  using row_state = base::counter_row::state;
  const auto now = [&] { return static_cast<row_state>(who_.row->now.load()); };
  EXPECT_EQ(who_.row->traffic.waiting, 0U);
  EXPECT_FALSE(reply(1, 8));
  EXPECT_FALSE(reply(2, 8));
  EXPECT_EQ(who_.row->traffic.waiting, 2U);
  to_.allowed = 1;
  who_.flush_if_free();
  EXPECT_EQ(who_.row->traffic.waiting, 1U);
  offload::node_descriptor::info known;
  known.name = std::string(200, 'n');
  known.transport = "shm";
  known.pid = 4711;
  who_.about.introduce(known, {});
  EXPECT_NE(now(), row_state::met);
  who_.show_met();
  EXPECT_EQ(now(), row_state::met);
  EXPECT_EQ(who_.row->pid, 4711);
  EXPECT_STREQ(who_.row->transport.data(), "shm");
  EXPECT_EQ(std::string(who_.row->machine.data()), std::string(63, 'n'));
  who_.show_restart(9, 3);
  EXPECT_EQ(who_.row->number, 9);
  EXPECT_EQ(who_.row->restarts, 3U);
  to_.user = &who_;
  static_cast<void>(who_.disconnect());
  EXPECT_EQ(now(), row_state::lost);
  EXPECT_EQ(who_.row->traffic.waiting, 0U);
}

TEST_F(peer, its_end_gives_what_has_not_left) {
  EXPECT_FALSE(reply(1, 8));
  who_.about.set_loss("it left");
  to_.user = &who_;
  const detail::message_list left = who_.disconnect();
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left.front().head.call, 1U);
  EXPECT_EQ(to_.closed_because, "it left");
  EXPECT_EQ(to_.user, nullptr);
  EXPECT_EQ(who_.to, &detail::no_endpoint::instance());
  EXPECT_EQ(peers_.filled_outboxes(), 0U);
  expect_free();
}

}  // namespace peer_test
