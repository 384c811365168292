// Line rings, the transport over many of them, and pieces of long messages.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <thread>

#include "conformance/subject.hpp"
#include "no_membarrier.hpp"
#include "transport/common/ring_reader.hpp"
#include "transport/common/ring_writer.hpp"
#include "transport/loopback/cluster.hpp"

namespace ham::transport {
namespace {

using bytes = std::vector<std::byte>;

class line_ring : public testing::Test {
 protected:
  static constexpr unsigned log2 = 6;  // 64 lines
  static constexpr std::uint32_t epoch = 0xabcdef01;

  bool send(std::size_t size, std::byte fill, std::uint32_t call = 0) {
    std::byte* const room = writer.reserve(size);
    if (room == nullptr) return false;
    std::memset(room, static_cast<int>(fill), size);
    writer.commit({7, call, 3});
    return true;
  }
  void expect(std::size_t size, std::byte fill, std::uint32_t call = 0) {
    frame got;
    ASSERT_FALSE(reader.empty());
    ASSERT_EQ(reader.poll(got), ring_status::frame);
    EXPECT_EQ(got.head.key, 7U);
    EXPECT_EQ(got.head.call, call);
    EXPECT_EQ(got.head.kind, 3U);
    EXPECT_EQ(bytes(got.payload.begin(), got.payload.end()), bytes(size, fill));
    reader.release();
  }
  ring_status poll() {
    frame got;
    return reader.poll(got);
  }

  alignas(64) std::array<std::byte, line_bytes << log2> lines{};
  ring_control control{};
  ring_writer writer{lines.data(), log2, control, epoch};
  ring_reader reader{lines.data(), log2, control, epoch};
};

TEST_F(line_ring, empty) {
  EXPECT_TRUE(reader.empty());
  EXPECT_EQ(poll(), ring_status::empty);
  reader.release();  // of nothing
  EXPECT_EQ(writer.sent(), 0U);
}

TEST_F(line_ring, all_sizes_through_many_laps) {
  for (int lap = 0; lap < 50; ++lap) {
    for (std::size_t size = 0; size <= writer.max_payload(); size += 1 + size / 7) {
      ASSERT_TRUE(send(size, static_cast<std::byte>(size + 1), static_cast<std::uint32_t>(size)));
      ASSERT_NO_FATAL_FAILURE(expect(size, static_cast<std::byte>(size + 1), static_cast<std::uint32_t>(size)));
      ASSERT_TRUE(reader.empty());
    }
  }
}

TEST_F(line_ring, largest_frame_fits_at_every_position) {
  for (int position = 0; position < 200; ++position) {
    ASSERT_TRUE(send(writer.max_payload(), std::byte{5})) << position;
    ASSERT_NO_FATAL_FAILURE(expect(writer.max_payload(), std::byte{5}));
    ASSERT_TRUE(send(0, std::byte{}));
    ASSERT_NO_FATAL_FAILURE(expect(0, std::byte{}));
  }
}

TEST_F(line_ring, full_and_in_order) {
  std::uint32_t sent = 0;
  std::uint32_t received = 0;
  std::mt19937 random(3);
  std::deque<std::size_t> sizes;
  for (int i = 0; i < 20000; ++i) {
    const std::size_t size = random() % 400;
    if (random() % 2 == 0 && send(size, static_cast<std::byte>(sent), sent)) {
      sizes.push_back(size);
      ++sent;
    } else if (!sizes.empty() && random() % 2 == 0) {
      ASSERT_NO_FATAL_FAILURE(expect(sizes.front(), static_cast<std::byte>(received), received));
      sizes.pop_front();
      ++received;
    }
  }
  EXPECT_GT(received, 1000U);
}

TEST_F(line_ring, refuses_what_has_no_room_and_takes_it_later) {
  int sent = 0;
  while (send(10, std::byte{1})) ++sent;
  EXPECT_EQ(sent, 64);
  EXPECT_FALSE(send(0, std::byte{}));
  EXPECT_EQ(writer.taken(), 0U);
  expect(10, std::byte{1});
  EXPECT_EQ(writer.taken(), 1U);
  EXPECT_TRUE(send(0, std::byte{}));
  EXPECT_FALSE(send(0, std::byte{}));
}

TEST_F(line_ring, taken_counts_before_released) {
  ASSERT_TRUE(send(10, std::byte{1}));
  frame got;
  ASSERT_EQ(reader.poll(got), ring_status::frame);
  EXPECT_EQ(writer.taken(), 1U) << "the frame is being handled";
  EXPECT_EQ(control.released.load(), 0U);
  reader.release();
  EXPECT_EQ(control.released.load(), 1U);
}

TEST_F(line_ring, payload_that_looks_like_a_stamp) {
  // The first word of each line is what the arrival stamp of a coming lap will be.
  for (std::uint32_t lap = 0; lap < 6; ++lap) {
    for (int i = 0; i < 100; ++i) {
      const std::size_t size = 48 + 64 * 7;
      std::byte* const room = writer.reserve(size);
      ASSERT_NE(room, nullptr);
      const std::uint32_t stamp = stamp_of(writer.sent() + 64 * (i % 3 == 0 ? 0U : 1U) + lap, log2);
      for (std::size_t at = 0; at + 4 <= size; at += 4) std::memcpy(room + at, &stamp, 4);
      writer.commit({7, 0, 3});
      ASSERT_EQ(poll(), ring_status::frame);
      reader.release();
      ASSERT_EQ(poll(), ring_status::empty) << "old payload was taken for a frame";
      ASSERT_TRUE(send(0, std::byte{}));
      ASSERT_NO_FATAL_FAILURE(expect(0, std::byte{}));
      ASSERT_EQ(poll(), ring_status::empty);
    }
  }
}

TEST_F(line_ring, cancelled_payload_that_looks_like_a_stamp) {
  for (int i = 0; i < 500; ++i) {
    const std::size_t size = writer.max_payload();
    std::byte* const room = writer.reserve(size);
    ASSERT_NE(room, nullptr);
    for (std::size_t at = 0; at + 4 <= size; at += 4) {
      const std::uint32_t stamp = stamp_of(writer.sent() + (i % 2 == 0 ? 0 : 64), log2);
      std::memcpy(room + at, &stamp, 4);
    }
    writer.cancel();
    ASSERT_EQ(poll(), ring_status::empty);
    ASSERT_TRUE(send(0, std::byte{}));
    ASSERT_NO_FATAL_FAILURE(expect(0, std::byte{}));
    ASSERT_EQ(poll(), ring_status::empty) << i;
  }
}

TEST_F(line_ring, another_connection_s_key_does_not_fit) {
  ASSERT_TRUE(send(0, std::byte{}));
  ring_reader stranger(lines.data(), log2, control, epoch + 1);
  frame got;
  ASSERT_EQ(stranger.poll(got), ring_status::frame);
  EXPECT_NE(got.head.key, 7U);
}

TEST_F(line_ring, hostile_heads) {
  const auto head = [&](std::uint64_t position, std::uint32_t size_and_kind) {
    auto* const at = reinterpret_cast<line_head*>(lines.data() + (position % 64) * line_bytes);
    at->size_and_kind.store(size_and_kind);
    at->stamp.store(stamp_of(position, log2));
  };
  const std::uint32_t call = 1U << 24;
  head(0, call | size_mask);
  EXPECT_EQ(poll(), ring_status::broken) << "longer than the ring";
  head(0, call | static_cast<std::uint32_t>(writer.max_payload() + 1));
  EXPECT_EQ(poll(), ring_status::broken) << "longer than a frame may be";
  head(0, 0);
  EXPECT_EQ(poll(), ring_status::broken) << "a pad of a whole lap";
  head(0, 5);
  EXPECT_EQ(poll(), ring_status::broken) << "a pad with a size";
  for (int i = 0; i < 63; ++i) {
    ASSERT_TRUE(send(0, std::byte{}));
    ASSERT_NO_FATAL_FAILURE(expect(0, std::byte{}));
  }
  head(63, call | 49);
  EXPECT_EQ(poll(), ring_status::broken) << "beyond the end of the ring";
  head(63, 0);
  head(64, 0);
  EXPECT_EQ(poll(), ring_status::broken) << "a pad behind a pad";
}

TEST_F(line_ring, hostile_counters_gain_nothing) {
  control.released.store(~std::uint64_t{0});
  int sent = 0;
  while (sent < 1000 && send(10, std::byte{1})) {
    ++sent;
    control.released.store(~std::uint64_t{0});  // the receiver says that all is free again: it only hurts itself
  }
  EXPECT_EQ(sent, 1000);
  control.released.store(0);
  EXPECT_FALSE(send(writer.max_payload(), std::byte{1}) && send(writer.max_payload(), std::byte{1}) &&
               send(writer.max_payload(), std::byte{1}));
}

TEST_F(line_ring, between_two_threads) {
  constexpr std::uint32_t count = 200000;
  std::thread sender([&] {
    for (std::uint32_t i = 0; i < count; ++i) {
      while (!send(i % 200, static_cast<std::byte>(i), i)) std::this_thread::yield();
    }
  });
  std::uint32_t wrong = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    frame got;
    while (reader.poll(got) != ring_status::frame) std::this_thread::yield();
    if (got.head.call != i || got.payload.size() != i % 200) ++wrong;
    for (const std::byte one : got.payload) wrong += one == static_cast<std::byte>(i) ? 0 : 1;
    reader.release();
  }
  sender.join();
  EXPECT_EQ(wrong, 0U);
}

// A hostile sender may rewrite the header while it is read: what is checked must be what is used, so no word of it is
// an ordinary variable that a compiler may read twice.
static_assert(std::is_same_v<decltype(line_head::stamp), std::atomic<std::uint32_t>>);
static_assert(std::is_same_v<decltype(line_head::key), std::atomic<std::uint32_t>>);
static_assert(std::is_same_v<decltype(line_head::call), std::atomic<std::uint32_t>>);
static_assert(std::is_same_v<decltype(line_head::size_and_kind), std::atomic<std::uint32_t>>);

TEST_F(line_ring, a_header_that_changes_while_it_is_read) {
  std::atomic<bool> stop{false};
  std::thread sender([&] {  // of whom ThreadSanitizer sees every access
    for (std::uint32_t i = 0; !stop; ++i) {
      auto* const at = reinterpret_cast<line_head*>(lines.data() + control.taken.load() % 64 * line_bytes);
      at->size_and_kind.store(1U << 24 | (i % 2 == 0 ? 10 : size_mask), std::memory_order_relaxed);
      at->key.store(i, std::memory_order_relaxed);
      at->call.store(i, std::memory_order_relaxed);
      at->stamp.store(stamp_of(control.taken.load(), log2), std::memory_order_release);
    }
  });
  int frames = 0;
  for (int i = 0; i < 100'000; ++i) {
    frame got;
    if (reader.poll(got) != ring_status::frame) continue;
    ++frames;
    EXPECT_EQ(got.payload.size(), 10U);
    reader.release();
  }
  stop = true;
  sender.join();
  RecordProperty("frames", frames);
}

// ---- the bell of a sleeping node

class sleeping_node : public testing::Test {
 protected:
  struct event {
    base::unique_fd fd{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    [[nodiscard]] bool written() const {
      std::uint64_t count = 0;
      return ::read(fd.get(), &count, sizeof count) == sizeof count;
    }
  };

  [[nodiscard]] std::unique_ptr<ring_endpoint> endpoint_of(node_t sender, int event_fd) {
    memory.push_back(std::make_unique<std::array<std::byte, ring_pair::bytes + line_bytes>>());
    const auto address = reinterpret_cast<std::uintptr_t>(memory.back()->data());
    const ring_pair rings{memory.back()->data() + (line_bytes - address % line_bytes) % line_bytes, 1};
    rings.control(0).armed.store(1);
    return std::make_unique<ring_endpoint>(0, sender, rings, 0, remote_bell{&page, event_fd});
  }
  static void send(ring_endpoint& to) {
    ASSERT_NE(to.reserve(0), nullptr);
    to.commit({1, 1, 1});
  }

  std::vector<std::unique_ptr<std::array<std::byte, ring_pair::bytes + line_bytes>>> memory;
  bell page{};
};

TEST_F(sleeping_node, is_woken_by_others_while_one_sender_is_held_up) {
  int full[2];
  ASSERT_EQ(::pipe2(full, O_CLOEXEC), 0);
  const base::unique_fd out(full[0]);
  const base::unique_fd in(full[1]);
  ASSERT_EQ(::fcntl(in.get(), F_SETFL, O_NONBLOCK), 0);
  const std::uint64_t any = 0;
  while (::write(in.get(), &any, sizeof any) > 0) {
  }
  ASSERT_EQ(::fcntl(in.get(), F_SETFL, 0), 0);
  const event own;
  page.sleeping.store(1);
  // The kernel holds the first sender where it writes the event descriptor.
  const auto held_up = endpoint_of(1, in.get());
  const auto other = endpoint_of(2, own.fd.get());
  std::thread sender([&] { send(*held_up); });
  while (page.bits[0].load() == 0 || page.attention.load() == 0) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // it goes on to the write
  send(*other);
  EXPECT_TRUE(own.written()) << "the second sender relied on the first one, which has not written yet";
  std::array<char, 1 << 16> rest{};
  EXPECT_GT(::read(out.get(), rest.data(), rest.size()), 0);
  sender.join();
}

TEST_F(sleeping_node, is_written_once_and_not_mistaken_for_a_later_sleep) {
  const event own;
  const auto one = endpoint_of(1, own.fd.get());
  page.sleeping.store(7);
  send(*one);
  EXPECT_TRUE(own.written());
  EXPECT_EQ(page.sleeping.load(), 0U);
  send(*one);
  EXPECT_FALSE(own.written()) << "it has been told";
  const std::uint32_t before = (page.sleeping.store(8), ring_bell(page, 1));
  page.sleeping.store(9);  // it woke and sleeps again
  woken(page, before);
  EXPECT_EQ(page.sleeping.load(), 9U) << "a late sender would have hidden the second sleep from all others";
}

TEST_F(sleeping_node, costs_its_senders_a_fence_until_it_says_that_it_orders_them) {
  const event own;
  const auto one = endpoint_of(1, own.fd.get());
  EXPECT_TRUE(one->fenced());
  send(*one);
  EXPECT_TRUE(one->fenced()) << "the receiver has no membarrier, or is not up yet";
  page.orders_senders.store(1);
  send(*one);
  EXPECT_EQ(one->fenced(), !base::register_heavy_fence());
}

TEST(ring_transport, says_whether_it_orders_its_senders) {
  bell own{};
  const base::unique_fd event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  conformance::recorder news;
  class node : public ring_transport {
   public:
    using ring_transport::ring_transport;
    [[nodiscard]] const char* name() const noexcept override { return "test"; }
    void connect(node_t) override {}
    void shutdown() noexcept override {}
  };
  const auto exit_status = [&](auto what) {
    const pid_t pid = ::fork();
    if (pid == 0) ::_exit(what());
    int status = -1;
    ::waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  node here(own, event.get(), news);
  EXPECT_EQ(own.orders_senders.load() != 0, base::register_heavy_fence());
  EXPECT_TRUE(here.arm());
  EXPECT_EQ(here.longest_sleep_ns(), base::never_ns);
  here.disarm();
  EXPECT_EQ(exit_status([&] {  // the kernel comes to refuse what senders rely on
              test::forbid_membarrier();
              const bool relied_upon = own.orders_senders.load() != 0;
              if (!here.arm()) return 1;
              if (own.orders_senders.load() != 0) return 2;
              return relied_upon && here.longest_sleep_ns() == base::never_ns ? 3 : 0;
            }),
            0);
}

// ---- many rings: hot, limbo, cold

class many_rings : public testing::Test {
 protected:
  static constexpr node_t peers = 50;

  many_rings() {
    for (node_t node = 0; node <= peers; ++node) {
      news.push_back(std::make_unique<conformance::recorder>());
      nodes.push_back(std::make_unique<loopback::node_transport>(job, node, nullptr, *news.back()));
    }
    for (node_t node = 1; node <= peers; ++node) nodes[static_cast<std::size_t>(node)]->connect(0);
  }
  [[nodiscard]] endpoint& to_hub(node_t from) { return *news[static_cast<std::size_t>(from)]->connected(0); }
  [[nodiscard]] static bool send(endpoint& to, std::uint32_t number) {
    std::byte* const room = to.reserve(4);
    if (room == nullptr) return false;
    std::memcpy(room, &number, 4);
    to.commit({1, number, 1});
    return true;
  }

  std::shared_ptr<loopback::cluster> job = std::make_shared<loopback::cluster>(peers + 1);
  std::vector<std::unique_ptr<conformance::recorder>> news;
  std::vector<std::unique_ptr<loopback::node_transport>> nodes;
};

TEST_F(many_rings, no_frame_is_lost_with_one_receiver_that_sleeps_and_looks) {
  constexpr std::uint32_t each = 2000;
  std::atomic<int> running{4};
  std::vector<std::thread> senders;
  for (int thread = 0; thread < 4; ++thread) {
    senders.emplace_back([&, thread] {
      std::mt19937 random(static_cast<unsigned>(thread));
      std::vector<std::uint32_t> sent(peers + 1, 0);
      int left = 0;
      for (node_t from = 1 + thread; from <= peers; from += 4) left += static_cast<int>(each);
      while (left > 0) {
        // Now one peer many times, now all in turn: rings get hot and cold.
        const node_t from = 1 + thread + 4 * static_cast<node_t>(random() % 13);
        if (from > peers) continue;
        const unsigned burst = 1 + random() % 40;
        for (unsigned i = 0; i < burst; ++i) {
          auto& count = sent[static_cast<std::size_t>(from)];
          if (count == each || !send(to_hub(from), count)) break;
          ++count;
          --left;
        }
        if (random() % 100 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 500));
      }
      --running;
    });
  }
  transport& hub = *nodes[0];
  std::vector<std::uint32_t> next(peers + 1, 0);
  std::uint64_t total = 0;
  int slept = 0;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(40);
  while (total < std::uint64_t{peers} * each) {
    ASSERT_LT(std::chrono::steady_clock::now(), until) << "lost: " << std::uint64_t{peers} * each - total;
    frame got;
    if (endpoint* const from = hub.poll(got, 4)) {
      const auto peer = static_cast<std::size_t>(from->peer());
      ASSERT_EQ(got.head.call, next[peer]) << "of " << peer;
      ++next[peer];
      ++total;
      from->release();
    } else if (conformance::sleep_on(hub, std::chrono::seconds(5))) {
      ++slept;
    }
  }
  for (auto& one : senders) one.join();
  RecordProperty("slept", slept);  // how often depends on the machine
}

TEST_F(many_rings, each_wakes_a_sleeper) {
  transport& hub = *nodes[0];
  frame got;
  while (hub.poll(got, 1) != nullptr) ADD_FAILURE();
  for (int round = 0; round < 5; ++round) {
    for (node_t from = 1; from <= peers; ++from) {
      std::thread sender([&] {
        if (from % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
        EXPECT_TRUE(send(to_hub(from), 9));
      });
      endpoint* by = nullptr;
      const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while ((by = hub.poll(got, 1)) == nullptr && std::chrono::steady_clock::now() < until) {
        conformance::sleep_on(hub, std::chrono::seconds(10));
      }
      sender.join();
      ASSERT_NE(by, nullptr);
      ASSERT_EQ(by->peer(), from);
      by->release();
    }
  }
}

TEST_F(many_rings, a_flood_of_one_does_not_starve_the_others) {
  transport& hub = *nodes[0];
  for (node_t from = 1; from <= 3; ++from) EXPECT_TRUE(send(to_hub(from), 0));
  std::uint32_t flood = 0;
  while (send(to_hub(4), flood)) ++flood;
  int others = 0;
  for (int i = 0; i < 1000 && others < 3; ++i) {
    frame got;
    endpoint* const from = hub.poll(got, 4);
    ASSERT_NE(from, nullptr);
    if (from->peer() != 4) ++others;
    from->release();
    (void)send(to_hub(4), flood++);
  }
  EXPECT_EQ(others, 3);
}

// ---- fragments

frame piece_of(bytes& storage, std::uint32_t stream, const fragment_head& head, std::size_t size) {
  storage.assign(sizeof head + size, std::byte{1});
  std::memcpy(storage.data(), &head, sizeof head);
  return {{stream, 5, 2}, storage};
}

TEST(fragments, interleaved_streams) {
  assembler whole;
  bytes storage;
  for (std::uint64_t at = 0; at < 100; at += 10) {
    for (std::uint32_t stream = 0; stream < 20; ++stream) {
      const auto done = whole.add(piece_of(storage, stream, {100, at, 77, 1}, 10));
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
    assembler whole;
    bytes storage;
    EXPECT_THROW((void)whole.add(piece_of(storage, 1, head, size)), protocol_error);
  };
  refused({100, 0, 1, 1}, 0);
  refused({100, 5, 1, 1}, 10);
  refused({9, 0, 1, 1}, 10);
  refused({0, 0, 1, 1}, 1);
  refused({~std::uint64_t{0}, ~std::uint64_t{0}, 1, 1}, 10);
  refused({100, 0, 1, 0x80}, 10);
  refused({100, 0, 1, ~0U}, 10);
  assembler whole;
  bytes storage;
  EXPECT_THROW((void)whole.add({{1, 1, 2}, std::span<const std::byte>()}), protocol_error);
  EXPECT_FALSE(whole.add(piece_of(storage, 1, {100, 0, 1, 1}, 10)));
  EXPECT_THROW((void)whole.add(piece_of(storage, 1, {101, 10, 1, 1}, 10)), protocol_error) << "another total";
  assembler second;
  EXPECT_FALSE(second.add(piece_of(storage, 1, {100, 0, 1, 1}, 10)));
  EXPECT_THROW((void)second.add(piece_of(storage, 1, {100, 0, 1, 1}, 10)), protocol_error) << "the same piece again";
  assembler many;
  const auto open_all = [&] {
    for (std::uint32_t stream = 0; stream <= assembler::most_streams; ++stream) {
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
