// Cores for the nodes of a job.
#include "job/placement.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "ham/error.hpp"

namespace ham::inline v1::detail {
namespace {

using cores = std::vector<int>;

TEST(placement, is_automatic_none_or_a_list) {
  EXPECT_TRUE(parse_placement("").automatic);
  EXPECT_TRUE(parse_placement("auto").automatic);
  EXPECT_FALSE(parse_placement("none").automatic);
  EXPECT_TRUE(parse_placement("none").cores.empty());
  EXPECT_FALSE(parse_placement("0,2-3").automatic);
  EXPECT_EQ(parse_placement("0,2-3").cores, (cores{0, 2, 3}));
  for (const char* text : {"automatic", "auto,0", "0,none", "AUTO"}) EXPECT_THROW(parse_placement(text), config_error);
}

TEST(placement, begins_where_the_host_runs) {
  EXPECT_EQ(order_cores({0, 1, 2, 3}, 2, {}), (cores{2, 3, 0, 1}));
  EXPECT_EQ(order_cores({5}, 5, {}), (cores{5}));
  EXPECT_EQ(order_cores({1, 3}, 7, {}), (cores{1, 3})) << "the thread has just been moved away";
  EXPECT_EQ(order_cores({}, 0, {}), cores{});
}

TEST(placement, takes_at_once_cores_before_their_second_threads) {
  const std::map<int, cores> pairs{{0, {0, 4}}, {1, {1, 5}}, {2, {2, 6}}, {3, {3, 7}},
                                   {4, {0, 4}}, {5, {1, 5}}, {6, {2, 6}}, {7, {3, 7}}};
  EXPECT_EQ(order_cores({0, 1, 2, 3, 4, 5, 6, 7}, 0, pairs), (cores{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(order_cores({0, 1, 2, 3, 4, 5, 6, 7}, 6, pairs), (cores{6, 7, 0, 1, 2, 3, 4, 5}));
  const std::map<int, cores> neighbours{{0, {0, 1}}, {1, {0, 1}}, {2, {2, 3}}, {3, {2, 3}}};
  EXPECT_EQ(order_cores({0, 1, 2, 3}, 1, neighbours), (cores{1, 2, 3, 0}));
}

TEST(placement, hands_out_what_this_process_may_use) {
  cpu_set_t set;
  CPU_ZERO(&set);
  ASSERT_EQ(::sched_getaffinity(0, sizeof set, &set), 0);
  const cores all = cores_to_hand_out();
  EXPECT_EQ(all.size(), static_cast<std::size_t>(CPU_COUNT(&set)));
  for (const int core : all) EXPECT_TRUE(CPU_ISSET(static_cast<unsigned>(core), &set));
}

// Numbers that no machine has, so that jobs of this one are not in the way; by process, for tests that run at once.
int core_of_nobody(int which) { return 1'000'000 + static_cast<int>(::getpid()) * 8 + which; }

TEST(core_claims, are_all_or_none) {
  core_claims mine;
  core_claims other;
  const int first = core_of_nobody(0);
  ASSERT_TRUE(other.take(first + 1));
  EXPECT_EQ(mine.take(2, {first, first + 1, first + 2}), (cores{first, first + 2}));
  EXPECT_FALSE(mine.take(first)) << "it has it already";
  EXPECT_EQ(other.take(2, {first, first + 2, first + 3}), cores{});
  EXPECT_TRUE(mine.take(first + 3)) << "nothing of it was kept";
  mine.release(first);
  EXPECT_TRUE(other.take(first));
}

TEST(core_claims, end_with_their_process) {
  const int core = core_of_nobody(4);
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    core_claims mine;
    const char taken = mine.take(core) ? 'y' : 'n';
    if (::write(ends[1], &taken, 1) == 1) ::pause();
    ::_exit(1);
  }
  char taken = ' ';
  ASSERT_EQ(::read(ends[0], &taken, 1), 1);
  EXPECT_EQ(taken, 'y');
  core_claims here;
  EXPECT_FALSE(here.take(core));
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  EXPECT_TRUE(here.take(core));
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace ham::detail
