// How pending calls settle, without a node that sends them.
#include "core/call_table.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>
#include <vector>

#include "core/idle_node.hpp"

namespace ham::inline v1::detail {
namespace {

constexpr node_t peer_node = 3;

const std::exception_ptr broken = std::make_exception_ptr(std::runtime_error("broken"));

msg::handler_entry* some_function() {
  static int any;
  return reinterpret_cast<msg::handler_entry*>(&any);  // only whether there is one is looked at
}

struct call_table_test : ::testing::Test {
  test::idle_node node;
  call_table calls{nullptr, node.waits};
  std::vector<call_slot*> used;

  /// A call that was sent to the peer.
  call_slot& pending(std::int64_t deadline_ns = 0) {
    call_slot& slot = calls.claim();
    slot.node = peer_node;
    slot.function = some_function();
    slot.deadline_ns = deadline_ns;
    slot.state = slot_state::pending;
    slot.reply_due = true;
    if (deadline_ns != 0) calls.add_deadline(slot.id, deadline_ns);
    used.push_back(&slot);
    return slot;
  }
  /// No future outlives the table.
  void TearDown() override {
    for (call_slot* const slot : used) {
      if (slot->state == slot_state::pending) calls.fail_unsent(*slot, broken);
      if (slot->state == slot_state::failed) consume_failure(*slot);
      if (slot->state == slot_state::value) calls.release(*slot);
    }
    while (calls.due().pop() != nullptr) {
    }
  }
  /// What the future of a failed call does.
  void consume_failure(call_slot& slot) {
    EXPECT_EQ(slot.state, slot_state::failed);
    slot_error(slot).~exception_ptr();
    calls.release(slot);
  }
  /// What the deadline of a call does.
  void expire(std::int64_t now_ns) {
    calls.expire(now_ns, [&](call_slot& slot) { calls.fail(slot, broken); });
  }
};

TEST_F(call_table_test, settles_a_call_by_its_reply) {
  call_slot& slot = pending();
  EXPECT_EQ(calls.take_reply(slot.id, peer_node), &slot);
  calls.settle(slot, slot_state::value);
  EXPECT_TRUE(slot.settled());
  calls.release(slot);
}

TEST_F(call_table_test, takes_no_reply_that_is_not_due) {
  call_slot& slot = pending();
  const std::uint32_t id = slot.id;
  EXPECT_THROW(static_cast<void>(calls.take_reply(id + 1, peer_node)), protocol_error) << "never sent";
  EXPECT_THROW(static_cast<void>(calls.take_reply(id, peer_node + 1)), protocol_error) << "another node's";
  EXPECT_THROW(static_cast<void>(calls.take_reply(0xffffffff, peer_node)), protocol_error) << "no call has this id";
  EXPECT_EQ(calls.take_reply(id, peer_node), &slot);
  calls.settle(slot, slot_state::value);
  EXPECT_THROW(static_cast<void>(calls.take_reply(id, peer_node)), protocol_error) << "a second one";
  calls.release(slot);
  EXPECT_THROW(static_cast<void>(calls.take_reply(id, peer_node)), protocol_error) << "of a call that is over";
}

TEST_F(call_table_test, finds_the_oldest_call_to_a_node) {
  EXPECT_EQ(calls.oldest_to(peer_node), nullptr);
  call_slot& late = pending();
  late.position = 300;
  call_slot& first = pending();
  first.position = 100;
  call_slot& elsewhere = pending();
  elsewhere.position = 1;
  elsewhere.node = peer_node + 1;
  EXPECT_EQ(calls.oldest_to(peer_node), &first);
  EXPECT_EQ(calls.oldest_to(peer_node, [](const call_slot& one) noexcept { return one.position < 200; }), &late);
  EXPECT_TRUE(calls.abandon(first)) << "nobody waits for it any more, but it goes on";
  EXPECT_EQ(calls.oldest_to(peer_node), &first);
  std::erase(used, &first);
  static_cast<void>(calls.take_reply(first.id, peer_node));
  EXPECT_EQ(calls.oldest_to(peer_node), &late);
}

TEST_F(call_table_test, an_id_is_not_used_again_at_once) {
  call_slot& slot = pending();
  const std::uint32_t id = slot.id;
  static_cast<void>(calls.take_reply(id, peer_node));
  calls.settle(slot, slot_state::value);
  calls.release(slot);
  call_slot& next = pending();
  EXPECT_EQ(&next, &slot);
  EXPECT_NE(next.id, id);
  EXPECT_EQ(calls.find(id), nullptr);
}

TEST_F(call_table_test, an_abandoned_call_is_over_with_its_reply) {
  call_slot& slot = pending();
  const std::uint32_t id = slot.id;
  EXPECT_TRUE(calls.abandon(slot));
  EXPECT_EQ(calls.take_reply(id, peer_node), nullptr);
  EXPECT_EQ(calls.find(id), nullptr) << "its slot was given back";
}

TEST_F(call_table_test, a_settled_call_cannot_be_abandoned) {
  call_slot& slot = pending();
  static_cast<void>(calls.take_reply(slot.id, peer_node));
  calls.settle(slot, slot_state::value);
  EXPECT_FALSE(calls.abandon(slot));
  calls.release(slot);
}

TEST_F(call_table_test, a_call_that_something_waits_for_cannot_be_abandoned) {
  call_slot& slot = pending();
  continuation later{[](continuation*) {}};
  EXPECT_FALSE(calls.attach(slot, &later));
  EXPECT_FALSE(calls.abandon(slot)) << "nothing would run it";
  static_cast<void>(calls.take_reply(slot.id, peer_node));
  calls.settle(slot, slot_state::value);
  EXPECT_EQ(calls.due().pop(), &later);
  calls.release(slot);
}

TEST_F(call_table_test, continuations_are_due_when_the_call_has_settled) {
  call_slot& slot = pending();
  continuation before{nullptr};
  continuation after{nullptr};
  EXPECT_FALSE(calls.attach(slot, &before));
  EXPECT_TRUE(calls.due().empty());
  calls.settle(slot, slot_state::value);
  EXPECT_EQ(calls.due().pop(), &before);
  EXPECT_TRUE(calls.attach(slot, &after));
  EXPECT_EQ(calls.due().pop(), &after);
  EXPECT_EQ(calls.due().pop(), nullptr);
}

TEST_F(call_table_test, a_call_fails_at_its_deadline_and_its_slot_waits_for_the_late_reply) {
  call_slot& slot = pending(1000);
  EXPECT_EQ(calls.next_deadline_ns(), 1000);
  expire(999);
  EXPECT_FALSE(slot.settled());
  expire(1000);
  const std::uint32_t id = slot.id;
  consume_failure(slot);
  EXPECT_EQ(calls.find(id), &slot) << "the late reply must not find another call";
  EXPECT_EQ(calls.take_reply(id, peer_node), nullptr);
  EXPECT_EQ(calls.find(id), nullptr);
}

TEST_F(call_table_test, a_late_reply_that_comes_before_the_future_is_read_frees_the_slot_as_usual) {
  call_slot& slot = pending(1000);
  expire(1000);
  const std::uint32_t id = slot.id;
  EXPECT_EQ(calls.take_reply(id, peer_node), nullptr);
  consume_failure(slot);
  EXPECT_EQ(calls.find(id), nullptr);
}

TEST_F(call_table_test, the_deadline_of_a_call_that_is_over_is_nobody_elses) {
  call_slot& slot = pending(1000);
  static_cast<void>(calls.take_reply(slot.id, peer_node));
  calls.settle(slot, slot_state::value);
  calls.release(slot);
  call_slot& next = pending(5000);
  expire(1000);
  EXPECT_FALSE(next.settled());
}

TEST_F(call_table_test, calls_of_a_lost_node_fail_and_no_others) {
  call_slot& owed = pending();
  call_slot& forgotten = pending();
  call_slot& elsewhere = pending();
  elsewhere.node = peer_node + 1;
  const std::uint32_t forgotten_id = forgotten.id;
  ASSERT_TRUE(calls.abandon(forgotten));
  calls.fail_all_of(peer_node, [](call_slot&) { return broken; });
  consume_failure(owed);
  EXPECT_EQ(calls.find(forgotten_id), nullptr);
  EXPECT_FALSE(elsewhere.settled());
}

TEST_F(call_table_test, a_call_that_could_not_be_sent_fails_once) {
  call_slot& slot = pending();
  calls.fail_unsent(slot, broken);
  EXPECT_FALSE(slot.reply_due);
  calls.fail_unsent(slot, nullptr);  // its node was lost meanwhile: not again
  EXPECT_NE(slot_error(slot), nullptr);
  consume_failure(slot);
}

TEST_F(call_table_test, what_has_no_answer_for_want_of_memory_fails) {
  call_slot& slot = pending();
  call_slot& other = pending();
  calls.mark_unanswered(slot.id);
  calls.fail_unanswered(broken);
  consume_failure(slot);
  EXPECT_FALSE(other.settled());
}

TEST_F(call_table_test, at_the_end_everything_settles_that_the_error_is_for) {
  call_slot& sent = pending();
  call_slot& local = calls.claim_local(0);
  calls.fail_pending([](call_slot& slot) { return slot.function == nullptr ? nullptr : broken; });
  consume_failure(sent);
  EXPECT_FALSE(local.settled());
  calls.fail_pending([](call_slot&) { return broken; });
  consume_failure(local);
}

TEST_F(call_table_test, who_settles_wakes_the_thread_that_waits) {
  call_slot& slot = pending();
  std::thread waits([&] { node.wait([&] { return slot.settled(); }); });
  while (node.armed == 0) std::this_thread::yield();
  node.waits.lock();
  calls.settle(slot, slot_state::value);
  node.waits.unlock();
  waits.join();
}

TEST_F(call_table_test, leaves_a_reply_to_the_fault_that_is_to_strike_it) {
  call_slot& slot = pending();
  slot.fault = 3;
  EXPECT_EQ(calls.take_reply(slot.id, peer_node), nullptr);
  EXPECT_EQ(calls.find_faulty(slot.id), &slot);
  EXPECT_TRUE(calls.awaits(slot.id, peer_node)) << "the reply is still due";
  slot.fault = 0;
  EXPECT_EQ(calls.find_faulty(slot.id), nullptr);
  EXPECT_EQ(calls.take_reply(slot.id, peer_node), &slot);
  EXPECT_FALSE(calls.awaits(slot.id, peer_node));
  EXPECT_THROW(static_cast<void>(calls.take_reply(slot.id, peer_node)), protocol_error);
  calls.settle(slot, slot_state::value);
}

TEST_F(call_table_test, drops_a_faulty_reply_that_comes_too_late) {
  call_slot& slot = pending(100);
  slot.fault = 3;
  expire(100);
  EXPECT_EQ(calls.take_reply(slot.id, peer_node), nullptr);
  EXPECT_EQ(calls.find_faulty(slot.id), nullptr);
  EXPECT_FALSE(slot.reply_due);
}

TEST_F(call_table_test, gives_a_slot_back_without_its_fault) {
  call_slot& slot = calls.claim();
  slot.fault = 3;
  calls.cancel(slot);
  EXPECT_EQ(slot.fault, 0);
}

/// What a node is told of calls that nobody waits for.
struct reported {
  node_t node;
  const msg::handler_entry* function;
};
std::vector<reported> reports;
continuation unread{nullptr};
continuation* note(engine&, node_t node, const msg::handler_entry& function, std::exception_ptr why) noexcept {
  EXPECT_EQ(why, broken);
  reports.push_back({node, &function});
  return &unread;
}

TEST_F(call_table_test, errors_of_abandoned_calls_are_reported_once_the_lock_is_free) {
  char place = 0;
  call_table reporting(reinterpret_cast<engine*>(&place), node.waits, &note);
  const auto abandoned = [&](errors_told tell) -> call_slot& {
    call_slot& slot = reporting.claim();
    slot.node = peer_node;
    slot.function = some_function();
    slot.state = slot_state::pending;
    slot.reply_due = true;
    EXPECT_TRUE(reporting.abandon(slot, tell));
    return slot;
  };
  reports.clear();
  const std::uint32_t by_reply = abandoned(errors_told::yes).id;
  EXPECT_EQ(reporting.abandoned(by_reply, peer_node), some_function());
  EXPECT_EQ(reporting.abandoned(by_reply, peer_node + 1), nullptr) << "another node's";
  EXPECT_EQ(reporting.abandoned(by_reply + 1, peer_node), nullptr) << "no call";
  EXPECT_EQ(reporting.take_reply(by_reply, peer_node), nullptr);
  EXPECT_TRUE(reports.empty()) << "it may have had a value";

  abandoned(errors_told::yes);
  reporting.fail_all_of(peer_node, [](call_slot&) { return broken; });
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].node, peer_node);
  EXPECT_EQ(reports[0].function, some_function());
  EXPECT_EQ(reporting.due().pop(), &unread) << "run without the lock, as what waits for a call";

  const std::uint32_t quiet = abandoned(errors_told::no).id;
  EXPECT_EQ(reporting.abandoned(quiet, peer_node), nullptr);
  reporting.fail_all_of(peer_node, [](call_slot&) -> std::exception_ptr {
    ADD_FAILURE() << "nobody asks for the error";
    return broken;
  });
  EXPECT_EQ(reports.size(), 1U);
}

}  // namespace
}  // namespace ham::detail
