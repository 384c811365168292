// What every transport must do: order, sizes, back-pressure, memory, sleep and wake-up, death, close.
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <optional>

#include "bulk.hpp"
#include "conformance/subject.hpp"

namespace ham::inline v1::transport::conformance {
namespace {

using namespace std::chrono_literals;

class contract : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    subject_ = subjects().at(GetParam())();
    if (subject_ == nullptr) GTEST_SKIP() << "not in this build";
    const auto until = std::chrono::steady_clock::now() + 20s;
    while ((to_ = subject_->news().connected(subject_->peer())) == nullptr) {
      ASSERT_LT(std::chrono::steady_clock::now(), until) << "no connection";
      std::this_thread::sleep_for(100us);
    }
  }

  [[nodiscard]] transport& here() { return subject_->here(); }

  /// Sends, taking what arrives meanwhile.
  void send(order what, bytes payload, std::uint32_t call = 0) {
    outbound message{{static_cast<std::uint32_t>(what), call, plain_kind}, std::move(payload), stream_++, 0};
    const auto until = std::chrono::steady_clock::now() + 30s;
    while (!send_some(*to_, message, piece_kind)) {
      ASSERT_LT(std::chrono::steady_clock::now(), until) << "no room for 30 s";
      take();
    }
  }

  /// Looks once at what has arrived.
  bool take() {
    frame arrived;
    endpoint* const from = here().poll(arrived, 16);
    if (from == nullptr) return false;
    EXPECT_EQ(from, to_);
    if (arrived.head.kind == piece_kind) {
      auto whole = pieces_.add(arrived);
      from->release();
      if (whole) inbox_.push_back(std::move(*whole));
    } else {
      EXPECT_EQ(arrived.head.kind, plain_kind);
      inbox_.push_back({arrived.head, bytes(arrived.payload.begin(), arrived.payload.end())});
      from->release();
    }
    return true;
  }

  /// The next message, or nothing after a long while.
  std::optional<assembler::message> receive() {
    const auto until = std::chrono::steady_clock::now() + 30s;
    while (next_ == inbox_.size()) {
      if (!take() && std::chrono::steady_clock::now() > until) return std::nullopt;
    }
    return std::move(inbox_[next_++]);
  }

  std::uint64_t ask(order what, bytes payload, std::size_t index = 0) {
    send(what, std::move(payload));
    const auto answer = receive();
    EXPECT_TRUE(answer && answer->bytes.size() >= (index + 1) * 8);
    if (!answer) return 0;
    last_ = answer->bytes;
    return word<std::uint64_t>(last_, index);
  }

  void expect_echo(std::size_t size) {
    const bytes sent = test::growing_bytes(size, 7, size);
    send(order::echo, sent, static_cast<std::uint32_t>(size));
    const auto got = receive();
    ASSERT_TRUE(got) << size;
    ASSERT_EQ(got->head.key, static_cast<std::uint32_t>(order::echo));
    ASSERT_EQ(got->head.call, static_cast<std::uint32_t>(size));
    ASSERT_TRUE(test::same_bytes(got->bytes, sent)) << size;
  }

  std::unique_ptr<subject> subject_;
  endpoint* to_ = nullptr;
  assembler pieces_;
  std::vector<assembler::message> inbox_;
  std::size_t next_ = 0;
  std::uint32_t stream_ = 0;
  bytes last_;
};

TEST_P(contract, says_who_it_is) {
  const std::string name = here().name();
  EXPECT_EQ(GetParam().substr(0, GetParam().find('_')), name.substr(0, name.find('-')));
  EXPECT_EQ(to_->peer(), subject_->peer());
  EXPECT_EQ(to_->state(), endpoint_state::open);
  EXPECT_GE(to_->max_payload(), 4096U);
  EXPECT_GE(here().wake_fd(), 0);
}

TEST_P(contract, every_small_size) {
  for (std::size_t size = 0; size <= 600; size += size < 200 ? 1 : test::unless_sanitized<std::size_t>(1, 7)) {
    ASSERT_NO_FATAL_FAILURE(expect_echo(size));
  }
}

TEST_P(contract, sizes_around_the_largest_frame) {
  const std::size_t most = to_->max_payload();
  for (std::size_t size : {most / 2, most - 65, most - 64, most - 1, most, most + 1, most + 23, most + 24, most + 25,
                           2 * most, 5 * most + 3}) {
    ASSERT_NO_FATAL_FAILURE(expect_echo(size));
  }
}

TEST_P(contract, many_mebibytes) { expect_echo(test::unless_sanitized<std::size_t>(20, 8) << 20); }

TEST_P(contract, order_of_frames_of_all_sizes) {
  std::vector<std::size_t> sizes;
  for (std::uint32_t i = 0; i < 3000; ++i) {
    sizes.push_back((i * 2654435761U >> 20) % (i % 50 == 0 ? 40000 : 300));
    send(order::echo, bytes(sizes.back(), static_cast<std::byte>(i)), i);
  }
  for (std::uint32_t i = 0; i < 3000; ++i) {
    const auto got = receive();
    ASSERT_TRUE(got);
    ASSERT_EQ(got->head.call, i);
    ASSERT_EQ(got->bytes, bytes(sizes[i], static_cast<std::byte>(i)));
  }
}

TEST_P(contract, numbered_frames_from_the_peer) {
  for (const std::uint32_t size : {4U, 48U, 49U, 5000U}) {
    send(order::send_many, pack(2000U, size));
    for (std::uint32_t i = 0; i < 2000; ++i) {
      const auto got = receive();
      ASSERT_TRUE(got);
      ASSERT_EQ(word<std::uint32_t>(got->bytes), i);
      ASSERT_EQ(got->bytes.size(), size);
      ASSERT_EQ(got->bytes.back(), size == 4 ? static_cast<std::byte>(i >> 24) : static_cast<std::byte>(i));
    }
  }
}

TEST_P(contract, small_payloads_may_be_read_beyond_their_end) {
  send(order::echo, bytes(1, std::byte{5}));
  frame arrived;
  const auto until = std::chrono::steady_clock::now() + 30s;
  endpoint* from = nullptr;
  while ((from = here().poll(arrived, 1)) == nullptr) ASSERT_LT(std::chrono::steady_clock::now(), until);
  bytes copy(readable_payload);
  std::memcpy(copy.data(), arrived.payload.data(), copy.size());
  EXPECT_EQ(copy[0], std::byte{5});
  from->release();
}

TEST_P(contract, a_full_queue_says_so_and_goes_on) {
  send(order::stop_for, pack(200U));
  constexpr std::size_t size = test::unless_sanitized<std::size_t>(100, 1000);
  std::uint32_t sent = 0;
  std::byte* room = nullptr;
  while (sent < 10'000'000 && (room = to_->reserve(size)) != nullptr) {
    std::memset(room, 1, size);
    to_->commit({static_cast<std::uint32_t>(order::echo), sent++, plain_kind});
  }
  EXPECT_EQ(room, nullptr) << "ten million frames found room";
  EXPECT_GT(sent, 10U);
  EXPECT_GT(to_->sent(), to_->consumed());
  for (std::uint32_t i = 0; i < sent; ++i) {
    const auto got = receive();
    ASSERT_TRUE(got) << i << " of " << sent;
    ASSERT_EQ(got->head.call, i);
  }
  EXPECT_EQ(to_->sent(), to_->consumed());
  expect_echo(100);
}

TEST_P(contract, a_reservation_may_be_cancelled) {
  for (int i = 0; i < 300; ++i) {
    const std::size_t size = static_cast<std::size_t>(i) * 37 % 3000;
    std::byte* const room = to_->reserve(size);
    ASSERT_NE(room, nullptr);
    for (std::size_t at = 0; at + 4 <= size; at += 4) {  // what a transport could take for a flag of its own
      const std::uint32_t flag = 0x80000000U + static_cast<std::uint32_t>(i / 100);
      std::memcpy(room + at, &flag, 4);
    }
    to_->cancel();
    ASSERT_NO_FATAL_FAILURE(expect_echo(static_cast<std::size_t>(i % 5)));
  }
}

TEST_P(contract, wakes_a_sleeper) {
  for (int i = 0; i < 50; ++i) {
    send(order::stop_for, pack(3U));
    send(order::echo, pack(i));
    bool slept = false;
    const auto until = std::chrono::steady_clock::now() + 20s;
    while (next_ == inbox_.size() && !take()) {
      ASSERT_LT(std::chrono::steady_clock::now(), until) << "a frame arrived and nobody woke the sleeper";
      slept = sleep_on(here(), 10s) || slept;
    }
    ASSERT_TRUE(receive());
    // The peer in its turn has gone to sleep by now, some of the times.
    if (i % 10 == 0) std::this_thread::sleep_for(10ms);
  }
}

TEST_P(contract, wake_ends_a_sleep_from_any_thread) {
  while (take()) {
  }
  for (int i = 0; i < 20; ++i) {
    std::atomic<bool> armed{false};  // what wakes up earlier may find nobody asleep
    std::thread waker([&] {
      while (!armed) std::this_thread::yield();
      std::this_thread::sleep_for(2ms);
      here().wake();
    });
    const auto begin = std::chrono::steady_clock::now();
    sleep_on(here(), 10s, &armed);
    armed = true;  // also if there was something to receive
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 9s);
    waker.join();
    while (take()) {
    }
  }
}

TEST_P(contract, does_not_sleep_on_what_has_arrived) {
  send(order::echo, pack(1));
  std::this_thread::sleep_for(50ms);
  const auto begin = std::chrono::steady_clock::now();
  sleep_on(here(), 20s);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
  EXPECT_TRUE(receive());
}

// ---- one-sided memory

TEST_P(contract, memory_there_and_back) {
  if (to_->memory() == nullptr) GTEST_SKIP() << "this medium has none";
  for (const std::uint64_t size : {1ULL, 64ULL, 4096ULL, 10'000'000ULL}) {
    const std::uint64_t address = ask(order::allocate, pack(size));
    const std::uint64_t tag = word<std::uint64_t>(last_, 1);
    bytes sent = test::growing_bytes(size, 31, 0);
    const auto sum = test::sum_of<std::uint64_t>(sent.data(), size);
    ASSERT_EQ(to_->memory()->put(address, tag, sent.data(), size), access_result::done);
    EXPECT_EQ(ask(order::sum, pack(address, size)), sum) << "a frame after a put finds the bytes there";
    ask(order::fill, pack(address, size / 2, std::uint64_t{9}));
    bytes got(size);
    ASSERT_EQ(to_->memory()->get(address, tag, got.data(), size), access_result::done);
    std::memset(sent.data(), 9, size / 2);
    EXPECT_TRUE(test::same_bytes(got, sent)) << size;
    EXPECT_EQ(ask(order::free, pack(address, tag)), 1U);
  }
}

TEST_P(contract, memory_is_checked_before_any_byte_moves) {
  if (to_->memory() == nullptr) GTEST_SKIP() << "this medium has none";
  const std::uint64_t size = 1000;
  const std::uint64_t address = ask(order::allocate, pack(size));
  const std::uint64_t tag = word<std::uint64_t>(last_, 1);
  ask(order::fill, pack(address, size, std::uint64_t{1}));
  bytes here(5000, std::byte{7});
  remote_memory& there = *to_->memory();
  EXPECT_EQ(there.put(address, tag, here.data(), 1001), access_result::out_of_range);
  EXPECT_EQ(there.put(address + 1, tag, here.data(), 1000), access_result::out_of_range);
  EXPECT_EQ(there.put(address - 1, tag, here.data(), 1), access_result::out_of_range);
  EXPECT_EQ(there.put(address + 1001, tag, here.data(), 0), access_result::out_of_range);
  EXPECT_EQ(there.put(~0ULL, tag, here.data(), 2), access_result::out_of_range);
  EXPECT_EQ(there.put(address, tag, here.data(), ~0ULL), access_result::out_of_range);
  EXPECT_EQ(there.put(address, 0, here.data(), 1), access_result::stale);
  EXPECT_EQ(there.put(address, tag + 1, here.data(), 1), access_result::stale);
  EXPECT_EQ(there.get(address, tag ^ (1ULL << 60), here.data(), 1), access_result::stale);
  EXPECT_EQ(ask(order::sum, pack(address, size)), 1000U) << "nothing was written";
  EXPECT_EQ(there.put(address + 1000, tag, here.data(), 0), access_result::done);
  EXPECT_EQ(ask(order::free, pack(address, tag)), 1U);
  EXPECT_EQ(there.put(address, tag, here.data(), 1), access_result::stale);
  EXPECT_EQ(there.get(address, tag, here.data(), 1), access_result::stale);
  EXPECT_EQ(ask(order::free, pack(address, tag)), 0U);
}

/// Tests all until they are over; gives the results.
std::vector<access_result> results_of(std::vector<std::unique_ptr<started_access>>& all) {
  std::vector<access_result> results(all.size(), access_result::lost);
  for (bool over = false; !over; std::this_thread::yield()) {
    over = true;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i] == nullptr) continue;
      if (all[i]->test(results[i]))
        all[i] = nullptr;
      else
        over = false;
    }
  }
  return results;
}

TEST_P(contract, started_accesses_go_on_at_once_and_beside_frames) {
  const auto there = to_->memory();
  if (there == nullptr || there->background() != remote_memory::background_access::started)
    GTEST_SKIP() << "accesses of this medium are not started";
  const std::uint64_t size = 2'000'000;
  const std::uint64_t parts = 6;
  const std::uint64_t address = ask(order::allocate, pack(parts * size));
  const std::uint64_t tag = word<std::uint64_t>(last_, 1);
  bytes sent(parts * size);
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < sent.size(); ++i) {
    sent[i] = static_cast<std::byte>(i * 37);
    sum += static_cast<std::uint64_t>(sent[i]);
  }
  const std::vector<access_result> good(parts, access_result::done);
  std::vector<std::unique_ptr<started_access>> all;
  for (std::uint64_t i = 0; i < parts; ++i)
    all.push_back(there->start_put(address + i * size, tag, sent.data() + i * size, size));
  for (std::uint32_t i = 0; i < 20; ++i) send(order::echo, pack(i), i);
  EXPECT_EQ(results_of(all), good);
  for (std::uint32_t i = 0; i < 20; ++i) {
    const auto got = receive();
    ASSERT_TRUE(got);
    EXPECT_EQ(got->head.call, i);
  }
  EXPECT_EQ(ask(order::sum, pack(address, parts * size)), sum) << "a frame after a put finds the bytes there";
  bytes got(sent.size());
  all.clear();
  for (std::uint64_t i = parts; i-- != 0;)
    all.push_back(there->start_get(address + i * size, tag, got.data() + i * size, size));
  EXPECT_EQ(results_of(all), good);
  EXPECT_EQ(got, sent);

  all.clear();
  all.push_back(there->start_put(address + 1, tag, sent.data(), parts * size));
  all.push_back(there->start_get(address, tag + 1, got.data(), size));
  all.push_back(there->start_put(address + parts * size, tag, sent.data(), 0));
  EXPECT_EQ(results_of(all), (std::vector{access_result::out_of_range, access_result::stale, access_result::done}));
  EXPECT_EQ(got, sent) << "nothing was read";
  EXPECT_EQ(ask(order::free, pack(address, tag)), 1U);
}

TEST_P(contract, a_started_access_ends_with_the_connection) {
  const auto there = to_->memory();
  if (there == nullptr || there->background() != remote_memory::background_access::started)
    GTEST_SKIP() << "accesses of this medium are not started";
  const std::uint64_t size = 10'000'000;
  const std::uint64_t address = ask(order::allocate, pack(size));
  const std::uint64_t tag = word<std::uint64_t>(last_, 1);
  bytes here(size);
  bytes more(size);
  std::vector<std::unique_ptr<started_access>> all;
  send(order::stop_for, pack(std::uint32_t{300}));
  all.push_back(there->start_put(address, tag, here.data(), size));
  static_cast<void>(there->start_get(address, tag, more.data(), size));  // which nobody waits for
  to_->close("because the test says so");
  EXPECT_EQ(results_of(all), std::vector{access_result::lost});
  all.push_back(there->start_get(address, tag, here.data(), size));
  EXPECT_EQ(results_of(all).back(), access_result::lost);
  EXPECT_EQ(there->get(address, tag, here.data(), 1), access_result::lost);
}

// ---- ends

TEST_P(contract, closing) {
  to_->close("because the test says so");
  EXPECT_NE(to_->state(), endpoint_state::open);
  EXPECT_EQ(to_->reason(), "because the test says so");
  to_->close("again");
  EXPECT_EQ(to_->reason(), "because the test says so") << "the first reason counts";
}

TEST_P(contract, an_orderly_end_of_the_peer_takes_back_nothing) {
  for (std::uint32_t i = 0; i < 100; ++i) send(order::echo, pack(i), i);
  send(order::leave, {});
  for (std::uint32_t i = 0; i < 100; ++i) {
    const auto got = receive();
    ASSERT_TRUE(got);
    EXPECT_EQ(got->head.call, i);
  }
}

TEST_P(contract, death_of_the_peer_is_told) {
  if (!subject_->mortal()) GTEST_SKIP() << "a thread cannot be killed";
  expect_echo(10);
  send(order::stop_for, pack(60000U));
  const std::uint64_t before = to_->sent();
  for (int i = 0; i < 10; ++i) send(order::echo, pack(i));
  std::this_thread::sleep_for(10ms);
  subject_->kill_peer();
  const auto until = std::chrono::steady_clock::now() + 20s;
  while (subject_->news().lost(subject_->peer()).empty()) {
    ASSERT_LT(std::chrono::steady_clock::now(), until) << "nobody said that the peer has died";
    std::this_thread::sleep_for(100us);
  }
  EXPECT_FALSE(subject_->news().lost(subject_->peer()).front().empty());
  if (subject_->leaves_traces()) {
    EXPECT_LE(to_->consumed(), before) << "what it did not take is known to be so";
  } else {
    EXPECT_EQ(to_->consumed(), to_->sent()) << "nothing is known: all of it may have been taken";
  }
  frame nothing;
  EXPECT_FALSE(to_->poll(nothing));
}

TEST_P(contract, answers_of_a_dead_peer_can_still_be_read) {
  if (!subject_->mortal()) GTEST_SKIP() << "a thread cannot be killed";
  if (!subject_->leaves_traces()) GTEST_SKIP() << "they were in its memory";
  send(order::send_many, pack(100U, 40U));
  send(order::stop_for, pack(60000U));
  while (to_->consumed() != to_->sent()) std::this_thread::sleep_for(100us);
  subject_->kill_peer();
  const auto until = std::chrono::steady_clock::now() + 20s;
  while (subject_->news().lost(subject_->peer()).empty()) ASSERT_LT(std::chrono::steady_clock::now(), until);
  frame arrived;
  std::uint32_t count = 0;
  while (to_->poll(arrived)) {
    EXPECT_EQ(word<std::uint32_t>(arrived.payload), count++);
    to_->release();
  }
  EXPECT_EQ(count, 100U);
}

TEST_P(contract, shutdown_may_be_called_twice) {
  expect_echo(1);
  here().shutdown();
  here().shutdown();
}

std::vector<std::string> all_that_joined() {
  std::vector<std::string> names;
  for (const auto& [name, make] : subjects()) names.push_back(name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(of, contract, testing::ValuesIn(all_that_joined()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace ham::transport::conformance
