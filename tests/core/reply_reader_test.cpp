// Replies that the waiting thread takes by itself, while another thread has the receiving lock.
#include "core/reply_reader.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/cpu.hpp"
#include "faults/hostile_world.hpp"
#include "ham/offload.hpp"
#include "ham/offload/shared_future.hpp"

namespace reply_reader_test {

using namespace ham;
using namespace ham::test;
using namespace std::chrono_literals;
using detail::to_byte;
using detail::wire_kind;

int answered(int value) { return value; }
std::atomic<int> begun{0};
void begin(int) { ++begun; }

/// Makes the functions above handlers of this program.
[[maybe_unused]] void never_called() {
  offload::sync(0, fn<&answered>, 1);
  offload::sync(0, fn<&begin>, 1);
}
void (*const keep)() = &never_called;

bytes pack(std::int32_t value) {
  bytes result(sizeof value);
  std::memcpy(result.data(), &value, sizeof value);
  return result;
}

/// Another thread of the node, which has the receiving lock: again and again for a while, or all the time.
class poller {
 public:
  explicit poller(detail::engine& of) : of_(of), thread_([this] { run(); }) {}
  ~poller() {
    end_ = true;
    set(all_the_time_, false);
    thread_.join();
  }
  poller(const poller&) = delete;
  poller& operator=(const poller&) = delete;
  /// Returns when it has it.
  void take() {
    set(all_the_time_, true);
    has_.wait(false);
  }
  void give() {
    set(all_the_time_, false);
    has_.wait(true);
  }

 private:
  static void set(std::atomic<bool>& which, bool to) {
    which = to;
    which.notify_all();
  }
  void run() {
    while (!end_) {
      of_.waits.lock();
      const auto until = std::chrono::steady_clock::now() + 50us;
      while (all_the_time_ || std::chrono::steady_clock::now() < until) {
        if (!all_the_time_) continue;
        set(has_, true);
        all_the_time_.wait(true);
      }
      set(has_, false);
      of_.waits.unlock();
      base::yield();
    }
  }
  detail::engine& of_;
  std::atomic<bool> end_{false};
  std::atomic<bool> all_the_time_{false};
  std::atomic<bool> has_{false};
  std::thread thread_;
};

class reply_reader : public testing::Test {
 protected:
  reply_reader() {
    begun = 0;
    EXPECT_NE(keep, nullptr);
  }
  [[nodiscard]] bool shared(const world::peer& one) {
    bool is = false;
    world_.node().locked([&] { is = world_.node().peers[one.number].to->shared() != nullptr; });
    return is;
  }
  /// A peer whose frames waiting threads read by themselves, since one has waited beside the poller.
  world::peer& shared_peer() {
    world::peer& one = world_.listening();
    poller other(world_.node());
    auto first = offload::async(one.number, fn<&answered>, 1);
    for (int i = 0; i < 2000 && !shared(one); ++i) EXPECT_FALSE(first.wait_for(1ms));
    EXPECT_TRUE(shared(one));
    answer(one, 1);
    EXPECT_EQ(first.get(), 1);
    return one;
  }
  /// Answers the oldest call that the node has sent there.
  void answer(world::peer& by, int value) { answer(by, pack(value)); }
  void answer(world::peer& by, const bytes& value) {
    const auto got = by.receive();
    ASSERT_TRUE(got && got->first.kind == to_byte(wire_kind::call));
    by.send({0, got->first.call, to_byte(wire_kind::reply)}, value);
  }

  world world_;
  const detail::engine_scope scope_{&world_.node()};
};

TEST_F(reply_reader, a_reply_is_taken_while_another_thread_has_the_receiving_lock) {
  world::peer& peer = shared_peer();
  poller other(world_.node());
  const std::uint64_t before = world_.node().peers[peer.number].bytes_received.bytes();
  for (int i = 0; i < 100; ++i) {
    auto one = offload::async(peer.number, fn<&answered>, 0);
    answer(peer, i);
    other.take();
    ASSERT_EQ(one.get(), i);
    other.give();
  }
  EXPECT_EQ(world_.node().peers[peer.number].bytes_received.bytes(),
            before + 100 * (sizeof(int) + detail::traffic_counter::head_bytes));
}

TEST_F(reply_reader, all_else_waits_for_who_has_the_lock) {
  world::peer& peer = shared_peer();
  poller other(world_.node());
  auto one = offload::async(peer.number, fn<&answered>, 0);
  peer.send({key_of("reply_reader_test::begin"), detail::no_reply, to_byte(wire_kind::call)}, pack(1));
  answer(peer, 5);
  other.take();
  EXPECT_FALSE(one.wait_for(5ms)) << "the reply has overtaken a call";
  EXPECT_EQ(begun, 0);
  other.give();
  EXPECT_EQ(one.get(), 5);
  EXPECT_EQ(begun, 1);
}

TEST_F(reply_reader, a_test_finds_what_has_arrived_at_once) {
  world::peer& peer = shared_peer();
  {
    poller other(world_.node());
    auto one = offload::async(peer.number, fn<&answered>, 0);
    other.take();
    EXPECT_FALSE(one.wait_for(1ms));
    answer(peer, 1);
    EXPECT_EQ(one.get(), 1);
    other.give();
  }
  auto one = offload::async(peer.number, fn<&answered>, 0);
  answer(peer, 2);
  EXPECT_TRUE(one.test()) << "the ring is left to a thread that does not wait any more";
  EXPECT_EQ(one.get(), 2);
}

TEST_F(reply_reader, what_another_thread_attaches_meanwhile_runs) {
  world::peer& peer = shared_peer();
  poller other(world_.node());
  for (int i = 0; i < 50; ++i) {
    auto first = offload::async(peer.number, fn<&answered>, 0);
    const offload::shared_future<int> one = std::move(first);
    std::atomic<bool> attached{false};
    std::atomic<int> result{0};
    std::thread attaches([&] {
      const detail::engine_scope scope(&world_.node());
      auto after = one.then([](int value) { return value + 1; });
      attached = true;
      result = after.get();
    });
    if (i % 2 == 0)
      while (!attached) base::yield();
    answer(peer, i);
    EXPECT_EQ(one.get(), i);
    attaches.join();
    EXPECT_EQ(result, i + 1);
  }
}

TEST_F(reply_reader, a_result_that_cannot_be_read_ends_the_connection) {
  world::peer& peer = shared_peer();
  poller other(world_.node());
  const quiet no_reports;
  auto one = offload::async(peer.number, fn<&answered>, 0);
  auto behind = offload::async(peer.number, fn<&answered>, 0);
  answer(peer, bytes(1));
  EXPECT_THROW(one.get(), node_failure);
  EXPECT_THROW(behind.get(), node_failure);
  EXPECT_FALSE(peer.open());
}

TEST_F(reply_reader, deadlines_pass) {
  world::peer& peer = shared_peer();
  poller other(world_.node());
  for (int i = 0; i < 20; ++i) {
    auto late = offload::async(offload::within(peer.number, 1ms), fn<&answered>, 0);
    EXPECT_THROW(late.get(), deadline_exceeded);
    while (const auto got = peer.receive()) {  // the call, and the word that it is to stop
      if (got->first.kind == (to_byte(wire_kind::call) | detail::stoppable))
        peer.send({0, got->first.call, to_byte(wire_kind::reply)}, pack(1));
    }
  }
  auto next = offload::async(peer.number, fn<&answered>, 0);
  answer(peer, 7);
  EXPECT_EQ(next.get(), 7);
}

TEST_F(reply_reader, another_thread_stops_the_call) {
  world::peer& peer = shared_peer();
  poller other(world_.node());
  std::stop_source source;
  auto one = offload::async(offload::stoppable(peer.number, source.get_token(), offload::when_stopped::at_once),
                            fn<&answered>, 0);
  std::thread stops([&] {
    std::this_thread::sleep_for(2ms);
    source.request_stop();
  });
  EXPECT_THROW(one.get(), operation_cancelled);
  stops.join();
}

TEST_F(reply_reader, the_loss_of_the_node_is_told) {
  world::peer& peer = shared_peer();
  poller other(world_.node());
  auto one = offload::async(peer.number, fn<&answered>, 0);
  std::thread ends([&] {
    std::this_thread::sleep_for(2ms);
    world_.node().events.report_end(peer.number, detail::peer_end::process_died, "it was ended");
  });
  EXPECT_THROW(one.get(), node_failure);
  ends.join();
  EXPECT_FALSE(peer.open());
}

TEST_F(reply_reader, many_threads_wait_for_one_node_and_for_others) {
  constexpr int calls = 300;
  std::vector<world::peer*> peers{&shared_peer(), &shared_peer()};
  std::atomic<bool> over{false};
  std::thread answers([&] {
    while (!over) {
      for (world::peer* const one : peers) {
        const auto got = one->receive();
        if (!got || got->first.kind != to_byte(wire_kind::call)) continue;
        one->send({0, got->first.call, to_byte(wire_kind::reply)}, got->second);
        world_.node().waits.wake_if_asleep();  // which the peers of this world leave to the test
      }
      base::yield();
    }
  });
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const detail::engine_scope scope(&world_.node());
      const node_t node = peers[static_cast<std::size_t>(t) % 2]->number;
      for (int i = 0; i < calls; ++i)
        if (offload::sync(node, fn<&answered>, t * calls + i) != t * calls + i) ++wrong;
    });
  }
  for (std::thread& one : threads) one.join();
  over = true;
  answers.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace reply_reader_test
