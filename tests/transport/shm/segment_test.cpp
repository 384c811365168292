// The memory that the nodes of a machine share: who is awake, and places that are used again.
#include "transport/shm/segment.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <thread>
#include <vector>

namespace ham::inline v1::transport::shm {
namespace {

class job_memory : public testing::Test {
 protected:
  base::unique_fd file = base::make_memory_file("ham-test", sizeof(job_segment));
  base::mapping mapped{file.get(), sizeof(job_segment)};
  job_segment& job = *reinterpret_cast<job_segment*>(mapped.data());
};

TEST_F(job_memory, counts_each_node_that_is_awake_once) {
  job.set_awake(1, true);
  job.set_awake(1, true);
  job.set_awake(2, true);
  EXPECT_EQ(job.awake.load(), 2);
  job.set_awake(1, false);
  job.set_awake(1, false);
  job.set_awake(3, false);
  EXPECT_EQ(job.awake.load(), 1);
  EXPECT_EQ(job.of(2).awake.load(), 1U);
}

TEST_F(job_memory, counts_who_is_woken_by_others_unless_it_has_ended) {
  job.wake(1);
  job.wake(1);
  EXPECT_EQ(job.awake.load(), 1);
  job.set_awake(1, true);
  EXPECT_EQ(job.awake.load(), 1);
  job.end(1);
  EXPECT_EQ(job.awake.load(), 0);
  job.wake(1);
  EXPECT_EQ(job.awake.load(), 0);
  job.clear(1);
  job.wake(1);
  EXPECT_EQ(job.awake.load(), 1);
}

TEST_F(job_memory, the_count_is_right_whoever_counts_at_the_same_time) {
  const auto flicker = [&](node_t node) {
    for (int i = 0; i < 1000; ++i) job.set_awake(node, i % 2 == 0);
    job.set_awake(node, true);
  };
  std::vector<std::thread> nodes;
  for (node_t node = 0; node < 3; ++node) nodes.emplace_back(flicker, node);
  for (std::thread& one : nodes) one.join();
  EXPECT_EQ(job.awake.load(), 3);
}

TEST_F(job_memory, more_nodes_awake_than_cores_are_too_many) {
  job.cores.store(2);
  for (const node_t node : {0, 1}) job.set_awake(node, true);
  EXPECT_FALSE(job.oversubscribes(0));
  job.set_awake(2, true);
  EXPECT_TRUE(job.oversubscribes(0));
  job.set_awake(0, false);
  EXPECT_FALSE(job.oversubscribes(1));
}

TEST_F(job_memory, two_nodes_awake_on_their_only_core_are_too_many_for_these_two) {
  job.cores.store(8);
  for (const node_t node : {0, 1, 2, 3}) job.set_awake(node, true);
  job.bind(1, 5);
  job.bind(2, 5);
  job.bind(3, 6);
  EXPECT_EQ(job.counting_places.load(), 7);
  EXPECT_TRUE(job.oversubscribes(1));
  EXPECT_TRUE(job.oversubscribes(2));
  EXPECT_FALSE(job.oversubscribes(3));
  EXPECT_FALSE(job.oversubscribes(0));
  job.set_awake(2, false);
  EXPECT_FALSE(job.oversubscribes(1));
  job.bind(1, 6);
  EXPECT_TRUE(job.oversubscribes(3));
  job.bind(1, -1);
  EXPECT_FALSE(job.oversubscribes(3));
  EXPECT_EQ(job.awake.load(), 3);
}

TEST_F(job_memory, who_has_a_core_alone_is_not_concerned_by_how_many_share_another) {
  job.cores.store(2);
  for (const node_t node : {0, 1, 2}) job.set_awake(node, true);
  job.bind(0, 0);
  job.bind(1, 1);
  EXPECT_TRUE(job.oversubscribes(0)) << "the third may run there";
  job.bind(2, 1);
  EXPECT_FALSE(job.oversubscribes(0));
  EXPECT_TRUE(job.oversubscribes(1));
}

TEST_F(job_memory, a_core_that_no_place_counts_for_is_as_many) {
  job.cores.store(8);
  for (const node_t node : {1, 2}) {
    job.set_awake(node, true);
    job.bind(node, static_cast<int>(max_nodes));
  }
  EXPECT_FALSE(job.oversubscribes(1));
}

TEST_F(job_memory, who_binds_itself_while_others_count_it_is_counted_right) {
  const auto flicker = [&](node_t node) {
    for (int i = 0; i < 1000; ++i) i % 4 == 1 ? job.wake(node) : job.set_awake(node, i % 4 == 3);
  };
  const auto move = [&](node_t node) {
    for (int i = 0; i < 1000; ++i) job.bind(node, i % 4 - 1);
  };
  std::vector<std::thread> both;
  for (node_t node = 0; node < 2; ++node) {
    both.emplace_back(flicker, node);
    both.emplace_back(move, node);
  }
  for (std::thread& one : both) one.join();
  for (node_t node = 0; node < 2; ++node) job.set_awake(node, false);
  for (int core = 0; core < 4; ++core) EXPECT_EQ(job.nodes[core].awake_here.load(), 0) << core;
  EXPECT_EQ(job.awake.load(), 0);
  EXPECT_EQ(job.awake_anywhere.load(), 0);
}

TEST_F(job_memory, numbers_have_the_same_place_after_as_many_as_there_are) {
  const auto last = static_cast<node_t>(max_nodes) - 1;
  EXPECT_EQ(&job.of(0), &job.nodes[0]);
  EXPECT_EQ(&job.of(last), &job.nodes[max_nodes - 1]);
  EXPECT_EQ(&job.of(last + 1), &job.nodes[0]);
  EXPECT_EQ(&job.of(last + 8), &job.nodes[7]);
}

TEST_F(job_memory, a_place_is_cleared_of_the_node_that_had_it) {
  job_node& place = job.of(5);
  job.set_awake(5, true);
  job.bind(5, 0);
  place.alive.store(77);
  place.end.record(11);
  static_cast<void>(ring_bell(place.ring_me, 70));
  place.ring_me.sleeping.store(3);
  place.ring_me.orders_senders.store(1);
  job.set_awake(6, true);
  job.clear(5);
  EXPECT_EQ(job.awake.load(), 1) << "the other one";
  EXPECT_EQ(place.alive.load(), 0U);
  EXPECT_EQ(place.end.text(), "");
  EXPECT_EQ(place.ring_me.attention.load() + place.ring_me.sleeping.load() + place.ring_me.orders_senders.load(), 0U);
  for (const auto& bits : place.ring_me.bits) EXPECT_EQ(bits.load(), 0U);
}

TEST_F(job_memory, recorders_lie_behind_it_one_for_each_place) {
  constexpr std::uint64_t area = base::recorder_area::bytes;
  EXPECT_GE(recorder_offset(0), sizeof(job_segment));
  for (const node_t node : {0, 1, 7, static_cast<node_t>(max_nodes) - 1}) {
    EXPECT_EQ(recorder_offset(node) % area, 0U) << node;
    EXPECT_EQ(recorder_offset(node), recorder_offset(0) + static_cast<std::uint64_t>(node) * area);
  }
  EXPECT_EQ(recorder_offset(static_cast<node_t>(max_nodes) + 7), recorder_offset(7));
}

TEST_F(job_memory, tells_which_places_lie_on_a_page) {
  const auto offset = [&](const job_node& of) {
    return static_cast<std::uint64_t>(reinterpret_cast<const std::byte*>(&of) - mapped.data());
  };
  for (const std::uint64_t page_bytes : {std::uint64_t{4096}, std::uint64_t{65536}}) {
    for (std::uint64_t page = page_bytes; page < sizeof(job_segment); page += page_bytes) {
      const auto [first, last] = places_between(page, page + page_bytes);
      ASSERT_LT(last, max_nodes);
      EXPECT_LT(offset(job.nodes[first]), page + page_bytes) << page;
      EXPECT_GT(offset(job.nodes[first]) + sizeof(job_node), page) << page;
      if (first != 0) {
        EXPECT_LE(offset(job.nodes[first]), page) << page;
      }
      EXPECT_LT(offset(job.nodes[last]), page + page_bytes) << page;
      if (last != max_nodes - 1) {
        EXPECT_GE(offset(job.nodes[last + 1]), page + page_bytes) << page;
      }
    }
  }
  EXPECT_EQ(place_offset(0), offset(job.nodes[0]));
  EXPECT_EQ(place_offset(77), offset(job.nodes[77]));
}

TEST_F(job_memory, believes_no_core_that_is_none) {
  EXPECT_EQ(job.of(1).home_core(), -1) << "none was said";
  job.of(1).home.store(1);
  EXPECT_EQ(job.of(1).home_core(), 0);
  for (const std::int32_t nonsense : {0, -1, INT32_MIN}) {
    job.of(1).home.store(nonsense);
    EXPECT_EQ(job.of(1).home_core(), -1) << nonsense;
  }
}

TEST_F(job_memory, tells_how_a_process_ended_that_nobody_has_reaped) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(9);
  ASSERT_GT(child, 0);
  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(job.of(1).how_ended(0, child), "exited with status 9");
  EXPECT_EQ(job.of(1).how_ended(child, 0), "exited with status 9");
  EXPECT_EQ(job.of(1).how_ended(child, ::getpid()), "exited with status 9") << "a wrapper was started";
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
}

TEST_F(job_memory, tells_what_was_recorded_of_a_process_that_is_reaped) {
  EXPECT_EQ(job.of(1).how_ended(0, 0), "") << "nobody says";
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ASSERT_GT(child, 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  job.of(1).end.record(11);
  EXPECT_EQ(job.of(1).how_ended(child, child).substr(0, 23), "was killed by signal 11");
}

}  // namespace
}  // namespace ham::transport::shm
