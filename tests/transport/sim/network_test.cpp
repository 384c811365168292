// Links with delays and little room, and what nodes hear of each other.
#include "transport/sim/network.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "conformance/subject.hpp"
#include "transport/sim/plain_director.hpp"
#include "transport/sim/transport.hpp"

namespace ham::inline v1::transport::sim {
namespace {

using conformance::recorder;
using namespace std::chrono_literals;

class sim_network : public testing::Test {
 protected:
  /// Introduces the two and gives the first one's endpoint.
  endpoint& connect() {
    one_.connect(1);
    EXPECT_TRUE(eventually([&] { return news_.connected(1) != nullptr && other_news_.connected(0) != nullptr; }));
    return *news_.connected(1);
  }
  static bool send(endpoint& to, std::uint32_t key) {
    if (to.reserve(8) == nullptr) return false;
    to.commit({key, 0, 1});
    return true;
  }
  /// The key of the next frame, or 0.
  std::uint32_t receive() {
    frame got;
    endpoint* const from = other_.poll(got, 1);
    if (from == nullptr) return 0;
    const std::uint32_t key = got.head.key;
    from->release();
    return key;
  }

  plain_director director_;
  network network_{director_};
  base::heap memory_{base::heap::make_file()};
  base::heap other_memory_{base::heap::make_file()};
  recorder news_;
  recorder other_news_;
  node_transport one_{network_, 0, &memory_, news_};
  node_transport other_{network_, 1, &other_memory_, other_news_};
};

TEST_F(sim_network, a_link_holds_so_many_frames_as_the_simulation_says) {
  endpoint& to = connect();
  director_.frames = 2;
  EXPECT_TRUE(send(to, 1));
  EXPECT_TRUE(send(to, 2));
  EXPECT_FALSE(send(to, 3));
  EXPECT_TRUE(eventually([&] { return receive() == 1; }));
  EXPECT_TRUE(send(to, 3));
  EXPECT_EQ(to.sent(), 3U);
  EXPECT_EQ(to.consumed(), 1U);
}

TEST_F(sim_network, the_simulation_is_told_of_every_frame_and_may_change_it) {
  endpoint& to = connect();
  director_.changes = 2;
  EXPECT_TRUE(send(to, 1));
  EXPECT_TRUE(send(to, 2));
  EXPECT_TRUE(eventually([&] { return receive() == 1; }));
  EXPECT_TRUE(eventually([&] { return receive() == 102; }));
  using sighting = plain_director::sighting;
  EXPECT_EQ(director_.seen,
            (std::vector<sighting>{{0, 1, 1, false}, {0, 1, 2, false}, {0, 1, 1, true}, {0, 1, 102, true}}));
}

TEST_F(sim_network, a_frame_does_not_overtake_the_one_before) {
  endpoint& to = connect();
  director_.delay = 20'000'000;
  EXPECT_TRUE(send(to, 1));
  director_.delay = 0;
  EXPECT_TRUE(send(to, 2));
  std::uint32_t first = 0;
  EXPECT_TRUE(eventually([&] { return (first = receive()) != 0; }));
  EXPECT_EQ(first, 1U);
  EXPECT_TRUE(eventually([&] { return receive() == 2; }));
}

TEST_F(sim_network, a_node_sleeps_no_longer_than_until_the_next_frame_arrives) {
  endpoint& to = connect();
  EXPECT_TRUE(send(to, 1));
  EXPECT_TRUE(eventually([&] { return receive() == 1; }));
  director_.delay = 3'000'000'000;
  EXPECT_TRUE(send(to, 2));
  EXPECT_TRUE(eventually([&] { return other_.arm(); }));
  EXPECT_GT(other_.max_sleep_ns(), 0);
  EXPECT_LE(other_.max_sleep_ns(), 3'000'000'000);
  other_.disarm();
}

TEST_F(sim_network, a_cut_link_takes_nothing_more_and_both_lose_each_other) {
  endpoint& to = connect();
  EXPECT_TRUE(send(to, 1));
  network_.cut(0, 1);
  EXPECT_TRUE(send(to, 2));
  EXPECT_TRUE(eventually([&] { return !news_.lost(1).empty() && !other_news_.lost(0).empty(); }));
  EXPECT_TRUE(eventually([&] { return receive() == 1; }));
  std::this_thread::sleep_for(5ms);
  EXPECT_EQ(receive(), 0U);
}

TEST_F(sim_network, what_a_dead_node_sent_is_there_at_once) {
  endpoint& to = connect();
  EXPECT_TRUE(send(to, 1));
  EXPECT_TRUE(eventually([&] { return receive() == 1; }));
  director_.delay = 1'000'000'000'000;
  EXPECT_TRUE(send(to, 2));
  EXPECT_EQ(receive(), 0U);
  network_.died(0);
  EXPECT_FALSE(network_.is_there(0));
  EXPECT_EQ(receive(), 2U);
  EXPECT_TRUE(eventually([&] { return !other_news_.lost(0).empty(); }));
}

TEST_F(sim_network, memory_of_others_is_checked) {
  endpoint& to = connect();
  const auto block = other_memory_.allocate(64);
  const auto memory = to.memory();
  const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(block.address));
  std::uint64_t value = 7;
  const auto* const from = reinterpret_cast<const std::byte*>(&value);
  EXPECT_EQ(memory->put(address, block.tag, from, sizeof value), access_result::done);
  std::uint64_t back = 0;
  EXPECT_EQ(memory->get(address, block.tag, reinterpret_cast<std::byte*>(&back), sizeof back), access_result::done);
  EXPECT_EQ(back, value);
  EXPECT_EQ(memory->put(address + 60, block.tag, from, sizeof value), access_result::out_of_range);
  network_.died(1);
  EXPECT_EQ(memory->put(address, block.tag, from, sizeof value), access_result::lost);
}

}  // namespace
}  // namespace ham::transport::sim
