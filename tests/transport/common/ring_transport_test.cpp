// The transport over many rings: hot, arming, cold; and how it goes to sleep.
#include "transport/common/ring_transport.hpp"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "base/heavy_fence.hpp"
#include "conformance/subject.hpp"
#include "forbidden_calls.hpp"
#include "transport/loopback/transport.hpp"

namespace ham::inline v1::transport {
namespace {

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
  EXPECT_EQ(here.max_sleep_ns(), base::never_ns);
  here.disarm();
  EXPECT_EQ(exit_status([&] {  // the kernel comes to refuse what senders rely on
              test::forbid_membarrier();
              const bool relied_upon = own.orders_senders.load() != 0;
              if (!here.arm()) return 1;
              if (own.orders_senders.load() != 0) return 2;
              return relied_upon && here.max_sleep_ns() == base::never_ns ? 3 : 0;
            }),
            0);
}

class node_of_one_ring final : public ring_transport {
 public:
  using ring_transport::adopt;
  using ring_transport::look_at_all_every;
  using ring_transport::lose_when_empty;
  using ring_transport::ring_transport;
  [[nodiscard]] const char* name() const noexcept override { return "test"; }
  void connect(node_t) override {}
  void shutdown() noexcept override {}
};

TEST(ring_transport, a_ring_that_a_waiting_thread_polls_is_polled_now_and_then) {
  bell own{};
  bell theirs{};
  const base::unique_fd event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const base::unique_fd file = base::make_memory_file("ham-test-ring", ring_pair::bytes);
  const base::mapping memory(file.get(), ring_pair::bytes);
  const ring_pair rings{memory.data(), 7};
  conformance::recorder news;
  node_of_one_ring here(own, event.get(), news);
  here.adopt(std::make_unique<ring_endpoint>(1, 0, rings, 1U, remote_bell{&theirs, event.get()}));
  ring_endpoint there(0, 1, rings, 0U, remote_bell{&own, event.get()});
  const auto send = [&](std::uint32_t call) {
    ASSERT_NE(there.reserve(8), nullptr);
    there.commit({1, call, 1});
  };
  frame got;
  send(1);
  auto* const from = static_cast<ring_endpoint*>(here.poll(got, 1));
  ASSERT_NE(from, nullptr);
  EXPECT_TRUE(got.at_once);
  from->release();

  base::recursive_spin_lock lock;
  from->share_reading(&lock);
  const auto wait_beside = [&] {
    const std::lock_guard reading(lock);
    EXPECT_EQ(from->poll_reply(1, 99, 64, 1, got), reply_poll::nothing);
  };
  wait_beside();
  send(2);
  ASSERT_EQ(here.poll(got, 1), from) << "one poll is for all rings";
  EXPECT_FALSE(from->attended()) << "it says so again if it still waits";
  from->release();
  for (std::uint32_t round = 0; round < 20; ++round) {
    wait_beside();
    send(3);
    unsigned polls = 1;
    while (here.poll(got, 64) == nullptr) ASSERT_LE(++polls, 8U);
    from->release();
  }
  send(4);
  ASSERT_EQ(here.poll(got, 64), from) << "nobody waits there";
  from->release();

  {
    const std::lock_guard reading(lock);
    send(5);
    std::thread([&] { EXPECT_EQ(here.poll(got, 1), nullptr) << "another thread reads"; }).join();
  }
  EXPECT_FALSE(here.arm()) << "a frame is there";
  ASSERT_EQ(here.poll(got, 1), from);
  from->release();
  EXPECT_TRUE(here.arm());
  EXPECT_FALSE(lock.held());
  here.disarm();
}

TEST(ring_transport, who_sends_no_more_is_lost_behind_its_last_frame) {
  bell own{};
  bell theirs{};
  const base::unique_fd event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const base::unique_fd file = base::make_memory_file("ham-test-ring", ring_pair::bytes);
  const base::mapping memory(file.get(), ring_pair::bytes);
  const ring_pair rings{memory.data(), 7};
  conformance::recorder news;
  node_of_one_ring here(own, event.get(), news);
  here.adopt(std::make_unique<ring_endpoint>(1, 0, rings, 1U, remote_bell{&theirs, event.get()}));
  ring_endpoint there(0, 1, rings, 0U, remote_bell{&own, event.get()});
  for (std::uint32_t i = 0; i < 2; ++i) {
    ASSERT_NE(there.reserve(8), nullptr);
    there.commit({1, i, 1});
  }
  here.lose_when_empty(1, "it has ended");
  here.lose_when_empty(2, "it was never met");
  for (std::uint32_t i = 0; i < 2; ++i) {
    EXPECT_FALSE(here.arm()) << "there is something to take";
    frame got;
    endpoint* const from = here.poll(got, 1);
    ASSERT_NE(from, nullptr);
    EXPECT_EQ(got.head.call, i);
    EXPECT_EQ(news.lost(1), std::vector<std::string>{});
    EXPECT_EQ(news.lost(2), std::vector<std::string>{"it was never met"});
    from->release();
  }
  frame nothing;
  EXPECT_EQ(here.poll(nothing, 1), nullptr);
  EXPECT_EQ(news.lost(1), std::vector<std::string>{"it has ended"});
  EXPECT_EQ(here.poll(nothing, 1), nullptr);
  EXPECT_EQ(news.lost(1).size(), 1U) << "told once";
  EXPECT_TRUE(here.arm());
  here.disarm();
}

/// A node with ten rings, more than are polled, and a bell that somebody else silences.
class silenced_bell : public testing::Test {
 protected:
  static constexpr node_t peers = 10;
  static constexpr std::int64_t blind_ns = 50'000'000;

  silenced_bell() {
    here_.look_at_all_every(blind_ns);
    for (node_t node = 1; node <= peers; ++node) {
      files_.push_back(base::make_memory_file("ham-test-ring", ring_pair::bytes));
      memories_.emplace_back(files_.back().get(), ring_pair::bytes);
      const ring_pair rings{memories_.back().data(), 7};
      here_.adopt(std::make_unique<ring_endpoint>(node, 0, rings, 1U, remote_bell{&theirs_, event_.get()}));
      there_.push_back(std::make_unique<ring_endpoint>(0, node, rings, 0U, remote_bell{&own_, event_.get()}));
    }
    frame none;
    EXPECT_EQ(here_.poll(none, 1), nullptr);
  }
  void send(node_t from) {
    ring_endpoint& to = *there_[static_cast<std::size_t>(from) - 1];
    ASSERT_NE(to.reserve(8), nullptr);
    to.commit({1, static_cast<std::uint32_t>(from), 1});
  }
  void silence() {
    own_.attention.store(0);
    own_.sleeping.store(0);
    for (auto& bits : own_.bits) bits.store(0);
  }
  /// The next frame of `from` within a second, while `busy` sends all the time; 0: nobody.
  bool hears(node_t from, node_t busy) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (std::chrono::steady_clock::now() < until) {
      frame got;
      if (endpoint* const one = here_.poll(got, 1)) {
        const node_t who = one->peer();
        one->release();
        if (who == from) return true;
        if (busy != 0) send(busy);
      } else if (here_.arm()) {
        EXPECT_LE(here_.max_sleep_ns(), blind_ns);
        std::this_thread::sleep_for(std::chrono::nanoseconds(here_.max_sleep_ns()));
        silence();
        here_.disarm();
      }
      silence();
    }
    return false;
  }

  bell own_{};
  bell theirs_{};
  const base::unique_fd event_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  conformance::recorder news_;
  node_of_one_ring here_{own_, event_.get(), news_};
  std::vector<base::unique_fd> files_;
  std::vector<base::mapping> memories_;
  std::vector<std::unique_ptr<ring_endpoint>> there_;
};

TEST_F(silenced_bell, loses_no_frame_of_a_node_that_sleeps) {
  ASSERT_TRUE(here_.arm());
  send(3);
  silence();
  here_.disarm();
  EXPECT_TRUE(hears(3, 0));
}

TEST_F(silenced_bell, loses_no_frame_of_a_node_that_is_busy) {
  ASSERT_TRUE(here_.arm());  // from now on no ring is polled before its bell rings
  here_.disarm();
  send(1);
  frame got;
  endpoint* const first = here_.poll(got, 1);
  ASSERT_NE(first, nullptr);
  first->release();
  send(1);
  send(10);
  silence();
  EXPECT_TRUE(hears(10, 1));
}

TEST_F(silenced_bell, loses_no_new_connection) {
  const base::unique_fd file = base::make_memory_file("ham-test-ring", ring_pair::bytes);
  const base::mapping memory(file.get(), ring_pair::bytes);
  const ring_pair rings{memory.data(), 7};
  here_.adopt(std::make_unique<ring_endpoint>(peers + 1, 0, rings, 1U, remote_bell{&theirs_, event_.get()}));
  there_.push_back(std::make_unique<ring_endpoint>(0, peers + 1, rings, 0U, remote_bell{&own_, event_.get()}));
  send(peers + 1);
  silence();
  EXPECT_TRUE(hears(peers + 1, 0));
  there_.pop_back();
}

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

TEST_F(many_rings, no_frame_is_lost_with_one_receiver_that_sleeps_and_polls) {
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

}  // namespace
}  // namespace ham::transport
