// Both ends of a pair of rings: frames both ways, memory for long messages, and when a sleeping peer is woken.
#include "transport/common/ring_endpoint.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/shared_event.hpp"

namespace ham::inline v1::transport {
namespace {

class ring_ends : public testing::Test {
 protected:
  static bool send(ring_endpoint& from, std::size_t size, std::uint32_t key) {
    std::byte* const room = from.reserve(size);
    if (room == nullptr) return false;
    std::memset(room, static_cast<int>(key), size);
    from.commit({key, key + 1, 3});
    return true;
  }
  static void expect(ring_endpoint& at, std::size_t size, std::uint32_t key) {
    frame got;
    ASSERT_TRUE(at.poll(got)) << key;
    EXPECT_EQ(got.head.key, key);
    EXPECT_EQ(got.head.call, key + 1);
    EXPECT_EQ(got.head.kind, 3);
    ASSERT_EQ(got.payload.size(), size);
    for (const std::byte one : got.payload) ASSERT_EQ(one, static_cast<std::byte>(key));
    at.release();
  }
  [[nodiscard]] bool event_was_rung() const {
    pollfd one{rung.fd(), POLLIN, 0};
    return ::poll(&one, 1, 0) == 1;
  }

  base::unique_fd file = base::make_memory_file("ham-test", ring_pair::file_bytes());
  base::mapping memory = ring_pair::map(file.get());
  const ring_pair rings = ring_pair::in(memory, 0x1234);
  base::unique_fd event{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  base::shared_event rung{event.get()};
  std::unique_ptr<bell> page = std::make_unique<bell>();
  struct : wake_listener {
    void wakes(node_t peer) noexcept override { woken.push_back(peer); }
    std::vector<node_t> woken;
  } listener;
  ring_endpoint here{1, 0, rings, 0, {page.get(), event.get(), &listener}};
  ring_endpoint there{0, 1, rings, 1, {page.get(), event.get()}};
};

TEST_F(ring_ends, carry_frames_both_ways) {
  for (std::uint32_t i = 0; i < 200; ++i) {  // more than once around
    ASSERT_TRUE(send(here, i * 100, i));
    expect(there, i * 100, i);
    ASSERT_TRUE(send(there, i, i + 1));
    expect(here, i, i + 1);
  }
  EXPECT_EQ(here.consumed(), here.sent());
  frame none;
  EXPECT_FALSE(here.poll(none));
  EXPECT_FALSE(here.malformed());
}

TEST_F(ring_ends, say_whether_a_frame_has_come_and_leave_it_there) {
  std::uint32_t call = 0;
  EXPECT_FALSE(there.peek(1, 48, call)) << "nothing has come";
  ASSERT_NE(here.reserve(40), nullptr);
  here.commit({5, 77, 1});
  EXPECT_TRUE(there.peek(1, 48, call));
  EXPECT_EQ(call, 77U);
  EXPECT_FALSE(there.peek(2, 48, call)) << "of another kind";
  EXPECT_FALSE(there.peek(1, 39, call)) << "too long";
  base::recursive_spin_lock lock;
  there.share_reading(&lock);
  EXPECT_FALSE(there.peek(1, 48, call)) << "another thread may be reading it";
  there.share_reading(nullptr);
  frame got;
  ASSERT_TRUE(there.poll(got));
  EXPECT_EQ(got.head.call, 77U);
  there.release();
  EXPECT_FALSE(there.peek(1, 48, call));
}

TEST_F(ring_ends, stop_calls_by_words_of_the_receiver) {
  EXPECT_EQ(there.stop_word_of(7).word, nullptr) << "until it has a bell of its own";
  there.take_stops(*page);
  const stop_word word = there.stop_word_of(7);
  ASSERT_NE(word.word, nullptr);
  EXPECT_EQ(word.word->load(), 0U);
  here.announce_stop(7);
  EXPECT_EQ(word.word->load(), word.mark);
  EXPECT_NE(there.stop_word_of(7 + 64).mark, word.mark) << "of another call that has the same word";
  EXPECT_EQ(there.stop_word_of(7 + 64).word, word.word);
  there.clear_stop_word(7 + 64);
  EXPECT_EQ(word.word->load(), word.mark);
  there.clear_stop_word(7);
  EXPECT_EQ(word.word->load(), 0U);
  here.announce_stop(8);
  there.clear_stop_words();
  EXPECT_EQ(there.stop_word_of(8).word->load(), 0U) << "the peer has gone";
}

TEST_F(ring_ends, are_full_when_half_of_the_ring_was_not_taken) {
  EXPECT_EQ(here.max_payload(), 131'056U);
  std::uint32_t sent = 0;
  while (send(here, here.max_payload(), sent)) ++sent;
  EXPECT_EQ(sent, 2U);
  EXPECT_LT(here.consumed(), here.sent());
  expect(there, here.max_payload(), 0);
  EXPECT_TRUE(send(here, here.max_payload(), 2));
}

TEST_F(ring_ends, a_frame_of_another_connection_has_another_key) {
  ring_pair other = rings;
  other.epoch = 0x4321;
  ring_endpoint stray(1, 0, other, 0, {page.get(), event.get()});
  ASSERT_TRUE(send(stray, 10, 5));
  frame got;
  ASSERT_TRUE(there.poll(got));
  EXPECT_NE(got.head.key, 5U);
}

TEST_F(ring_ends, a_peer_that_writes_nonsense_is_noticed) {
  ASSERT_TRUE(send(here, 10, 5));
  auto& head = *reinterpret_cast<line_head*>(rings.lines(0));
  head.size_and_kind.store(size_mask);
  frame got;
  EXPECT_FALSE(there.poll(got));
  EXPECT_TRUE(there.malformed());
}

TEST_F(ring_ends, ring_only_if_the_receiver_does_not_poll) {
  ASSERT_TRUE(send(here, 1, 1));
  EXPECT_EQ(page->attention.load(), 0U);
  rings.control(0).armed.store(1);
  ASSERT_TRUE(send(here, 1, 2));
  EXPECT_EQ(page->attention.load(), 1U);
  EXPECT_EQ(page->bits[0].load(), 1U) << "the number of the sender, 0";
  EXPECT_FALSE(event_was_rung()) << "it is awake";
  EXPECT_TRUE(listener.woken.empty());
  EXPECT_FALSE(here.take_woken());
}

TEST_F(ring_ends, wake_a_receiver_that_sleeps_and_say_so_once) {
  rings.control(0).armed.store(1);
  page->sleeping.store(5);
  ASSERT_TRUE(send(here, 1, 1));
  EXPECT_TRUE(event_was_rung());
  EXPECT_EQ(listener.woken, std::vector<node_t>{1});
  EXPECT_TRUE(here.take_woken()) << "its answer will take longer";
  EXPECT_FALSE(here.take_woken());
}

TEST_F(ring_ends, long_messages_go_where_the_peer_reads_them) {
  if (!rings.has_areas) GTEST_SKIP() << "addresses or files are limited here";
  rings.control(0).takes_long.store(0);
  EXPECT_EQ(here.long_messages(), nullptr) << "a peer that could not map them";
  rings.control(0).takes_long.store(1);
  message_memory* const area = here.long_messages();
  ASSERT_NE(area, nullptr);
  EXPECT_GT(area->max_size(), here.max_payload());
  EXPECT_LE(area->min_size(), here.max_payload()) << "nothing is too long for either way";
  const std::size_t size = 1'000'000;
  std::byte* const room = area->reserve_long(size);
  ASSERT_NE(room, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(room) % 64, 0U);
  std::memset(room, 9, size);
  ASSERT_TRUE(area->send_long(room, {9, 10, 3}));
  expect(there, size, 9);
  ASSERT_TRUE(send(here, 10, 1));
  expect(there, 10, 1);
  std::byte* const unsent = area->reserve_long(size);
  ASSERT_NE(unsent, nullptr);
  area->cancel_long(unsent);
  EXPECT_TRUE(area->trim_long()) << "nothing is in use";
}

TEST_F(ring_ends, a_long_message_waits_for_room_in_the_ring) {
  if (!rings.has_areas) GTEST_SKIP() << "addresses or files are limited here";
  rings.control(0).takes_long.store(1);
  message_memory* const area = here.long_messages();
  ASSERT_NE(area, nullptr);
  std::byte* const room = area->reserve_long(200'000);
  ASSERT_NE(room, nullptr);
  std::memset(room, 7, 200'000);
  while (send(here, 0, 1)) {
  }
  EXPECT_FALSE(area->send_long(room, {7, 8, 3}));
  frame got;
  while (there.poll(got)) there.release();
  ASSERT_TRUE(area->send_long(room, {7, 8, 3})) << "it was kept";
  expect(there, 200'000, 7);
}

TEST_F(ring_ends, of_a_short_file_have_no_memory_for_long_messages) {
  const base::unique_fd small = base::make_memory_file("ham-test", ring_pair::bytes);
  const base::mapping mapped = ring_pair::map(small.get());
  EXPECT_EQ(mapped.size(), ring_pair::bytes);
  const ring_pair short_pair = ring_pair::in(mapped, 1);
  EXPECT_FALSE(short_pair.has_areas);
  EXPECT_TRUE(short_pair.area(0).empty());
  short_pair.control(0).takes_long.store(1);
  ring_endpoint end(1, 0, short_pair, 0, {page.get(), event.get()});
  EXPECT_EQ(end.long_messages(), nullptr);
}

// ---- reading by several threads

TEST_F(ring_ends, who_waits_for_a_reply_takes_that_and_leaves_all_else) {
  base::recursive_spin_lock lock;
  frame got;
  ASSERT_TRUE(there.can_be_shared());
  EXPECT_EQ(there.shared(), nullptr);
  there.share_reading(&lock);
  const std::lock_guard reading(lock);
  EXPECT_EQ(there.poll_reply(3, 8, 100, 4, got), reply_poll::nothing);
  EXPECT_TRUE(there.attended());
  ASSERT_TRUE(send(here, 40, 7));
  EXPECT_EQ(there.poll_reply(4, 8, 100, 4, got), reply_poll::other) << "another kind";
  EXPECT_EQ(there.poll_reply(3, 9, 100, 4, got), reply_poll::other) << "of another call";
  EXPECT_EQ(there.poll_reply(3, 8, 39, 4, got), reply_poll::other) << "too long";
  ASSERT_EQ(there.poll_reply(3, 8, 40, 4, got), reply_poll::reply);
  EXPECT_EQ(got.head.call, 8U);
  EXPECT_EQ(got.payload.size(), 40U);
  there.release();
  EXPECT_TRUE(lock.held_by_me()) << "the caller's own is not given back";
  EXPECT_EQ(here.consumed(), here.sent());
  EXPECT_EQ(there.poll_reply(3, 8, 40, 4, got), reply_poll::nothing) << "it is gone";
  there.leave_to_poll();
  EXPECT_FALSE(there.attended());
}

TEST_F(ring_ends, frames_are_read_by_who_has_the_lock) {
  base::recursive_spin_lock lock;
  there.share_reading(&lock);
  ASSERT_TRUE(send(here, 200, 7));  // of several lines, which are given back at once
  frame got;
  lock.lock();
  std::thread([&] {
    EXPECT_FALSE(there.poll(got)) << "another thread reads";
    there.release();
  }).join();
  EXPECT_TRUE(lock.held_by_me());
  lock.unlock();
  ASSERT_TRUE(there.poll(got));
  EXPECT_TRUE(lock.held_by_me()) << "until the frame is given back";
  there.release();
  EXPECT_FALSE(lock.held());
  there.release();
  EXPECT_FALSE(lock.held());
  EXPECT_FALSE(there.poll(got));
  EXPECT_FALSE(lock.held()) << "nothing was found";
  there.share_reading(nullptr);
  ASSERT_TRUE(send(here, 30, 8));
  expect(there, 30, 8);
}

TEST_F(ring_ends, what_breaks_the_format_is_no_reply) {
  base::recursive_spin_lock lock;
  there.share_reading(&lock);
  const std::lock_guard reading(lock);
  frame got;
  for (std::uint32_t i = 0; i < 2 * 4096 / 31; ++i) {  // up to pads at the end of a lap, and beyond
    ASSERT_TRUE(send(here, 30 * 64, i));
    if (there.poll_reply(3, i + 1, 4096, 4, got) != reply_poll::reply) {
      ASSERT_TRUE(there.poll(got)) << "behind a pad";
    }
    EXPECT_EQ(got.head.key, i);
    there.release();
  }
  EXPECT_FALSE(there.malformed());
}

}  // namespace
}  // namespace ham::transport
