// Calls that go together: nobody's to fail before, one message, one by one again when they fail.
#include "core/batch_sender.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/clock.hpp"
#include "base/recorder_here.hpp"
#include "core/batch_records.hpp"
#include "core/sending_node.hpp"

namespace call_sender_test {

class batch_of_two : public call_sender {
 protected:
  batch_of_two() {
    for (call_slot*& slot : slots_) {
      slot = batches_.begin_batched(destination(other), function(), &decode_nothing, owner_).slot;
      claimed_.push_back(slot);
    }
  }
  void send_both(const destination& to = other) {
    const test::bytes records = test::batch_of({slots_[0]->id, slots_[1]->id});
    batches_.send(to, records, 2, slots_);
  }
  detail::batch_sender batches_{sender_, calls_, self};
  detail::batch_owner owner_{[](detail::batch_owner&) {}};
  call_slot* slots_[2];
};

TEST_F(batch_of_two, are_not_due_before_the_batch_is_sent) {
  for (const call_slot* const slot : slots_) {
    EXPECT_TRUE(slot->in_batch);
    EXPECT_FALSE(slot->reply_due);
    EXPECT_EQ(slot->node, self);
  }
  calls_.fail_all_of(other, [](call_slot&) -> std::exception_ptr { return nullptr; });
  EXPECT_EQ(slots_[0]->state, slot_state::pending) << "not the other node's to fail";
}

TEST_F(batch_of_two, travel_as_one_message) {
  to_.allowed = 1;
  send_both();
  ASSERT_EQ(to_.heads.size(), 1U);
  EXPECT_TRUE(sent(0).is_batch());
  EXPECT_EQ(sent(0).calls(), 2U);
  EXPECT_EQ(peers_[other].calls_sent, 2U);
  for (const call_slot* const slot : slots_) {
    EXPECT_FALSE(slot->in_batch);
    EXPECT_TRUE(slot->reply_due);
    EXPECT_EQ(slot->node, other);
  }
}

TEST_F(batch_of_two, fail_both_when_the_node_is_lost) {
  peers_[other].state = peer_state::lost;
  send_both();
  EXPECT_NE(error<node_failure>(), "");
  EXPECT_EQ(slots_[0]->state, slot_state::failed);
}

TEST_F(batch_of_two, fail_both_as_not_run_when_they_have_not_left_by_their_deadline) {
  peers_[other].max_payload = 8;  // so that it goes through the outbox
  send_both(soon(1'000'000));
  EXPECT_NE(error<deadline_exceeded>().find("has not run"), std::string::npos);
  EXPECT_EQ(slots_[0]->state, slot_state::failed);
  EXPECT_TRUE(peers_[other].unsent.empty());
}

TEST_F(call_sender, a_node_that_does_not_get_ready_in_time_takes_no_call_of_a_batch) {
  peers_[other].state = peer_state::unknown;
  node_.late = true;
  detail::batch_sender batches(sender_, calls_, self);
  detail::batch_owner owner{[](detail::batch_owner&) {}};
  EXPECT_THROW(static_cast<void>(batches.begin_batched(soon(1'000'000), function(), &decode_nothing, owner)),
               deadline_exceeded);
  EXPECT_TRUE(to_.heads.empty());
}

TEST_F(batch_of_two, fail_both_as_not_run_if_their_keys_are_another_process_s) {
  slots_[0]->position = slots_[1]->position = 7;  // which had the number when they were put into the batch
  to_.allowed = 1;
  send_both();
  EXPECT_NE(error<node_failure>().find("node 7 failed before the batch was sent"), std::string::npos);
  EXPECT_TRUE(to_.heads.empty());
  EXPECT_TRUE(peers_[other].sending.try_lock()) << "the lock was given back";
  peers_[other].sending.unlock();
}

TEST_F(batch_of_two, are_recorded_when_they_are_sent) {
  const test::recorder_here recorder(self);
  to_.allowed = 1;
  send_both();
  const auto past = recorder.thread().past;
  ASSERT_EQ(past.size(), 1U);
  EXPECT_EQ(past[0].kind, base::recorded_kind::sent_batch);
  EXPECT_EQ(past[0].peer, other);
  EXPECT_EQ(past[0].call, 2U);
}

class faulty_batch : public faulty_sender {
 protected:
  detail::batch_sender batches() { return {*faulty_, calls_, self}; }
};

TEST_F(faulty_batch, calls_of_a_batch_suffer_one_by_one) {
  struct nobody : detail::batch_owner {
  } owner;
  rules("*:request:1");
  EXPECT_THROW(static_cast<void>(batches().begin_batched(destination(other), function(), &decode_nothing, owner)),
               node_failure);
  rules("*:reply:1");
  const detail::batch_slot one = batches().begin_batched(destination(other), function(), &decode_nothing, owner);
  EXPECT_EQ(one.slot->fault, 1);
  EXPECT_EQ(one.key, test::callable_key());
  one.slot->in_batch = false;
  calls_.cancel(*one.slot);
}

TEST_F(faulty_batch, a_call_of_a_batch_is_not_late_beyond_its_deadline) {
  detail::batch_owner owner{[](detail::batch_owner&) {}};
  const auto begin = [&](std::int64_t in_ns) {
    return batches().begin_batched(soon(in_ns), function(), &decode_nothing, owner);
  };
  rules("*:request=10s:1");
  const std::int64_t before = base::now_ns();
  EXPECT_THROW(static_cast<void>(begin(20'000'000)), deadline_exceeded);
  EXPECT_GE(base::now_ns() - before, 20'000'000) << "nothing is said before";
  EXPECT_LT(base::now_ns() - before, 9 * second_ns);
  rules("*:request=20ms:1");
  const detail::batch_slot one = begin(60 * second_ns);
  EXPECT_GT(node_.progresses, 0);
  one.slot->in_batch = false;
  calls_.cancel(*one.slot);
  peers_[other].state = peer_state::unknown;
  node_.late = true;
  rules("*:request:1");
  EXPECT_THROW(static_cast<void>(begin(1'000'000)), deadline_exceeded) << "without a node there is nothing to decide";
}

}  // namespace call_sender_test
