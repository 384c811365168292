// What a thread of an emulated device says of itself, and its messages, without the loop.
#include "transport/cuda/emulated_lane.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>

namespace ham::inline v1::transport::cuda {
namespace {

namespace wire = device::detail;
using device::scope;

wire::table_row row_of(scope runs_on) { return {nullptr, 0, 0, runs_on, false}; }

TEST(emulated_lane, has_the_rank_that_its_call_gives_it) {
  emulated_device of({.blocks = 3, .warps = 2, .lanes = 4});
  emulated_lane one(of, 2, 5);
  const std::uint64_t stop = 0;
  wire::kept_replies kept{};
  const auto place = [&](scope runs_on) {
    one.begin(row_of(runs_on), stop, 1, kept);
    return std::pair(one.rank(), one.size());
  };
  EXPECT_EQ(place(scope::thread), std::pair(0U, 1U));
  EXPECT_EQ(place(scope::block), std::pair(5U, 8U));
  EXPECT_EQ(place(scope::grid), std::pair(21U, 24U));
  EXPECT_FALSE(one.in_first_warp());
  EXPECT_FALSE(one.leads_block());
  EXPECT_TRUE(emulated_lane(of, 0, 3).in_first_warp());
}

TEST(emulated_lane, stops_with_its_own_call_only) {
  emulated_device of({.blocks = 1, .warps = 1, .lanes = 1});
  emulated_lane one(of, 0, 0);
  std::uint64_t stop = 4;
  wire::kept_replies kept{};
  one.begin(row_of(scope::thread), stop, 5, kept);
  EXPECT_FALSE(one.stop_requested());
  stop = 5;
  EXPECT_TRUE(one.stop_requested());
  stop = 6;
  EXPECT_TRUE(one.stop_requested()) << "it stays true";
  one.begin(row_of(scope::thread), stop, 7, kept);
  EXPECT_FALSE(one.stop_requested());
}

/// Counts what crosses it.
struct counted_link {
  emulated_link of{link_costs{}};
  int stores = 0;
  int fences = 0;
  int reads = 0;

  wire::word_pair read_pair(const std::uint64_t* words) {
    ++reads;
    return of.read_pair(words);
  }
  std::uint64_t read_word(const std::uint64_t& from) {
    ++reads;
    return of.read_word(from);
  }
  void read_block(const std::byte* from, std::byte* to, std::size_t size) {
    ++reads;
    of.read_block(from, to, size);
  }
  void write_block(std::byte* to, const std::byte* from, std::size_t size) {
    ++stores;
    of.write_block(to, from, size);
  }
  void write_pair(std::uint64_t* to, const wire::word_pair& words) {
    ++stores;
    ++fences;
    of.write_pair(to, words);
  }
  void write_word(std::uint64_t& to, std::uint64_t word) {
    ++stores;
    ++fences;
    of.write_word(to, word);
  }
  std::int64_t arrival_ns() const { return of.arrival_ns(); }
};

struct message_queue {
  std::unique_ptr<wire::outbox> box = std::make_unique<wire::outbox>();
  wire::outbox_state own{};
  counted_link link;

  std::uint64_t send(const wire::message_head& head, const std::byte* bytes) {
    const std::uint64_t ticket = wire::take_ticket(own);
    EXPECT_TRUE(wire::has_place(link, *box, own, ticket));
    wire::send_message(link, *box, ticket, head, bytes);
    return ticket;
  }
  wire::answer_status take(std::uint32_t slot, std::uint64_t ticket, std::int64_t& to) {
    return wire::take_answer_from(link, *box, own, slot, ticket, reinterpret_cast<std::byte*>(&to), sizeof to);
  }
  void answer(std::uint32_t slot, std::uint64_t ticket, std::int64_t value) {
    wire::fill_answer(*box, slot, ticket, wire::answer_status::value, reinterpret_cast<const std::byte*>(&value),
                      sizeof value);
  }
};

wire::message_head question(std::uint32_t slot) { return {3, 0, slot, sizeof(std::int64_t)}; }

TEST(device_outbox, takes_one_store_and_one_fence_for_a_question_and_clears_nothing) {
  message_queue all;
  constexpr int questions = 1'000;
  for (std::int64_t i = 0; i < questions; ++i) {
    const std::uint32_t slot = wire::claim_answer_slot(all.own);
    EXPECT_EQ(slot, 0U);
    const std::uint64_t ticket = all.send(question(slot), reinterpret_cast<const std::byte*>(&i));
    std::int64_t asked = -1;
    ASSERT_TRUE(wire::has_message(*all.box, ticket, 0));
    const wire::message_head head = wire::copy_message(*all.box, ticket, reinterpret_cast<std::byte*>(&asked));
    EXPECT_EQ(asked, i);
    EXPECT_EQ(head.answer, slot);
    wire::publish_consumed(*all.box, ticket + 1);
    all.answer(slot, ticket, 2 * i);
    std::int64_t value = -1;
    EXPECT_EQ(all.take(slot, ticket, value), wire::answer_status::value);
    EXPECT_EQ(value, 2 * i);
  }
  EXPECT_EQ(all.link.stores, questions);
  EXPECT_EQ(all.link.fences, questions);
  EXPECT_LE(all.link.reads, questions + questions / static_cast<int>(wire::outbox_slots))
      << "the answers, and once for each round of the queue how much of it is taken";
}

TEST(device_outbox, goes_on_where_the_stamps_of_messages_begin_anew) {
  message_queue all;
  constexpr std::uint64_t stamps = std::uint64_t{1} << (64 - wire::message_stamp_shift);
  for (std::uint64_t ticket = 0; ticket < (stamps + 2) * wire::outbox_slots; ++ticket) {
    ASSERT_FALSE(wire::has_message(*all.box, ticket, 0)) << ticket;
    ASSERT_EQ(all.send(question(wire::no_answer), reinterpret_cast<const std::byte*>(&ticket)), ticket);
    std::uint64_t sent = 0;
    ASSERT_TRUE(wire::has_message(*all.box, ticket, 0)) << ticket;
    static_cast<void>(wire::copy_message(*all.box, ticket, reinterpret_cast<std::byte*>(&sent)));
    ASSERT_EQ(sent, ticket);
    wire::publish_consumed(*all.box, ticket + 1);
  }
}

TEST(device_outbox, takes_one_fence_for_a_long_message) {
  message_queue all;
  std::array<std::byte, wire::max_message> bytes{};
  for (std::size_t at = 0; at < bytes.size(); ++at) bytes[at] = static_cast<std::byte>(at);
  for (const std::size_t size : {std::size_t{9}, bytes.size()}) {
    all.link.fences = 0;
    const std::uint64_t ticket = all.send({7, 2, 5, static_cast<std::uint32_t>(size)}, bytes.data());
    EXPECT_EQ(all.link.fences, 1);
    std::array<std::byte, wire::max_message> found{};
    EXPECT_EQ(wire::copy_message(*all.box, ticket, found.data()).size, size);
    EXPECT_EQ(std::memcmp(found.data(), bytes.data(), size), 0);
    EXPECT_TRUE(size == bytes.size() || found[size] == std::byte{}) << "no more than it has";
  }
}

TEST(device_outbox, says_all_of_a_message_in_a_word) {
  for (const std::uint32_t function : {0U, wire::unknown_function, wire::print_function}) {
    for (const std::int32_t node : {0, 1, -1, wire::max_message_node, -wire::max_message_node}) {
      for (const std::uint32_t answer : {0U, wire::answer_slots - 1, wire::no_answer}) {
        for (const std::uint32_t size : {0U, 8U, static_cast<std::uint32_t>(wire::max_message)}) {
          const wire::message_head sent{function, node, answer, size};
          const wire::message_head found = wire::message_head::of(wire::stamp_of_message(12'345) | sent.word());
          EXPECT_EQ(found.function, function);
          EXPECT_EQ(found.node, node);
          EXPECT_EQ(found.answer, answer);
          EXPECT_EQ(found.size, size);
        }
      }
    }
  }
  EXPECT_EQ(wire::message_head::of(wire::message_head{0, INT32_MIN, 0, 0}.word()).node, -wire::max_message_node);
  EXPECT_EQ(wire::message_head::of(wire::message_head{0, INT32_MAX, 0, 0}.word()).node, wire::max_message_node);
}

TEST(device_outbox, copies_no_more_than_a_message_holds_whatever_the_device_has_written) {
  message_queue all;
  std::memset(static_cast<void*>(all.box->messages), 0xff, sizeof all.box->messages);
  std::array<std::byte, wire::max_message> found{};
  EXPECT_EQ(wire::copy_message(*all.box, 0, found.data()).size, wire::max_message);
  EXPECT_FALSE(wire::has_message(*all.box, 0, 0)) << "another stamp";
}

TEST(device_outbox, has_a_place_when_the_host_has_taken_one) {
  message_queue all;
  for (std::uint64_t i = 0; i < wire::outbox_slots; ++i)
    EXPECT_EQ(all.send({3, 0, wire::no_answer, 0}, nullptr), i) << "it does not read how much is taken";
  EXPECT_EQ(all.link.reads, 0);
  const std::uint64_t ticket = wire::take_ticket(all.own);
  EXPECT_FALSE(wire::has_place(all.link, *all.box, all.own, ticket));
  wire::publish_consumed(*all.box, 1);
  EXPECT_TRUE(wire::has_place(all.link, *all.box, all.own, ticket));
  EXPECT_FALSE(wire::has_place(all.link, *all.box, all.own, wire::take_ticket(all.own)));
}

TEST(device_outbox, takes_no_late_answer_for_that_of_a_later_question) {
  message_queue all;
  const std::int64_t nothing = 0;
  const std::uint32_t slot = wire::claim_answer_slot(all.own);
  const std::uint64_t dropped = all.send(question(slot), reinterpret_cast<const std::byte*>(&nothing));
  wire::drop_answer(all.own, slot);
  ASSERT_EQ(wire::claim_answer_slot(all.own), slot) << "it is given back at once";
  const std::uint64_t awaited = all.send(question(slot), reinterpret_cast<const std::byte*>(&nothing));
  std::int64_t value = -1;
  all.answer(slot, dropped, 5);
  EXPECT_EQ(all.take(slot, awaited, value), wire::answer_status::none);
  EXPECT_EQ(value, -1);
  all.answer(slot, awaited, 6);
  EXPECT_EQ(all.take(slot, awaited, value), wire::answer_status::value);
  EXPECT_EQ(value, 6);
}

TEST(emulated_lane, sends_messages_of_its_block_until_nobody_takes_them) {
  emulated_device of({.blocks = 2, .warps = 1, .lanes = 1});
  emulated_lane one(of, 0, 0);
  emulated_lane other(of, 1, 0);
  const std::uint64_t stop = 0;
  wire::kept_replies kept{};
  one.begin(row_of(scope::thread), stop, 1, kept);
  const auto send = [&](emulated_lane& from, std::uint64_t number) {
    return from.post({3, 0, wire::no_answer, sizeof number}, reinterpret_cast<const std::byte*>(&number));
  };
  for (std::uint64_t i = 0; i < wire::outbox_slots; ++i) EXPECT_EQ(send(one, i), i);
  std::atomic<bool> sent{false};
  std::thread full([&] {
    EXPECT_EQ(send(one, wire::outbox_slots), wire::outbox_slots);
    sent.store(true);
  });
  EXPECT_EQ(send(other, 5), 0U) << "a queue of its own";
  wire::outbox& box = of.messages()[0];
  for (std::uint64_t i = 0; i < wire::outbox_slots; ++i) {
    ASSERT_TRUE(wire::has_message(box, i, 0));
    std::uint64_t number = 0;
    static_cast<void>(wire::copy_message(box, i, reinterpret_cast<std::byte*>(&number)));
    EXPECT_EQ(number, i);
  }
  EXPECT_FALSE(wire::has_message(box, wire::outbox_slots, 0));
  EXPECT_FALSE(sent.load()) << "it is bounded";
  wire::publish_consumed(box, 1);
  full.join();
  EXPECT_TRUE(wire::has_message(box, wire::outbox_slots, 0));
  EXPECT_TRUE(wire::has_message(of.messages()[1], 0, 0));
}

TEST(emulated_lane, waits_for_answers_in_slots_of_its_own) {
  emulated_device of({.blocks = 1, .warps = 1, .lanes = 1});
  emulated_lane one(of, 0, 0);
  const std::uint32_t first = one.claim_answer();
  const std::uint32_t second = one.claim_answer();
  EXPECT_NE(first, second);
  std::array<std::byte, 20> value{};
  EXPECT_EQ(one.take_answer(first, 0, value.data(), value.size()), wire::answer_status::none);
  std::array<std::byte, 20> sent{};
  sent.fill(std::byte{42});
  wire::fill_answer(of.messages()[0], first, 0, wire::answer_status::value, sent.data(), sent.size());
  EXPECT_EQ(one.take_answer(second, 1, value.data(), value.size()), wire::answer_status::none);
  EXPECT_EQ(one.take_answer(first, 0, value.data(), value.size()), wire::answer_status::value);
  EXPECT_EQ(value, sent);
  EXPECT_EQ(one.claim_answer(), first) << "it was given back";
  wire::fill_answer(of.messages()[0], first, 2, wire::answer_status::failed, nullptr, 0);
  EXPECT_EQ(one.take_answer(first, 2, value.data(), value.size()), wire::answer_status::failed);
  EXPECT_TRUE(of.awaits_answers());
  one.drop_answer(second);
  EXPECT_FALSE(of.awaits_answers());
}

TEST(emulated_lane, awaits_no_slot_for_a_call_that_is_to_stop) {
  emulated_device of({.blocks = 1, .warps = 1, .lanes = 1});
  emulated_lane one(of, 0, 0);
  const std::uint64_t stop = 5;
  wire::kept_replies kept{};
  one.begin(row_of(scope::thread), stop, 4, kept);
  EXPECT_TRUE(one.pause());
  one.begin(row_of(scope::thread), stop, 5, kept);
  EXPECT_FALSE(one.pause());
  for (std::uint32_t i = 0; i < wire::answer_slots; ++i) EXPECT_EQ(one.claim_answer(), i) << "there is room";
  EXPECT_EQ(one.claim_answer(), wire::no_answer);
}

TEST(emulated_lane, no_thread_is_one_by_itself) {
  EXPECT_EQ(wire::this_lane(), nullptr);
  EXPECT_EQ(device::rank(), 0U);
  EXPECT_EQ(device::size(), 1U);
  EXPECT_FALSE(device::stop_requested());
  device::sync();
}

}  // namespace
}  // namespace ham::transport::cuda
