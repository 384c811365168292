// Where a thread may run before, while and after it sleeps at home.
#include "base/home_core.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace ham::inline v1::base {
namespace {

std::vector<int> allowed() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(::sched_getaffinity(0, sizeof set, &set), 0);
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(static_cast<unsigned>(core), &set)) cores.push_back(core);
  }
  return cores;
}

void bind_to(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(core), &set);
  EXPECT_EQ(::sched_setaffinity(0, sizeof set, &set), 0);
}

constexpr unsigned never_oversubscribed = 1'000'000;

/// What a machine with one usable core cannot show.
class home : public testing::Test {
 protected:
  void SetUp() override {
    if (all.size() < 2) GTEST_SKIP() << "needs two cores";
  }
  const std::vector<int> all = allowed();
  const int last = all.back();
};

TEST_F(home, is_where_the_thread_sleeps_and_nothing_else) {
  std::thread([&] {
    home_core core(never_oversubscribed);
    core.adopt_thread();
    {
      const home_core::asleep sleep(core, last);
      EXPECT_EQ(allowed(), std::vector<int>{last});
    }
    EXPECT_EQ(allowed(), all) << "what the application runs, starts and asks for";
    {
      const home_core::asleep sleep(core, -1);
      EXPECT_EQ(allowed(), all);
    }
    home_core::go_home();
    EXPECT_EQ(allowed(), all);
  }).join();
}

TEST_F(home, is_one_thread_s) {
  home_core core(never_oversubscribed);
  std::thread([&] { core.adopt_thread(); }).join();
  const home_core::asleep sleep(core, last);
  EXPECT_EQ(allowed(), all);
}

TEST_F(home, of_a_thread_that_is_bound_is_not_used) {
  std::thread([&] {
    home_core core(never_oversubscribed);
    core.adopt_thread();
    bind_to(all.front());
    {
      const home_core::asleep sleep(core, last);
      EXPECT_EQ(allowed(), std::vector<int>{all.front()});
    }
    EXPECT_EQ(allowed(), std::vector<int>{all.front()});
  }).join();
}

TEST_F(home, gives_way_to_who_binds_the_sleeping_thread) {
  std::thread([&] {
    home_core core(never_oversubscribed);
    core.adopt_thread();
    {
      const home_core::asleep sleep(core, last);
      bind_to(all.front());
    }
    EXPECT_EQ(allowed(), std::vector<int>{all.front()});
  }).join();
}

TEST_F(home, may_go_before_its_thread) {
  auto core = std::make_unique<home_core>(never_oversubscribed);
  core->adopt_thread();
  { const home_core::asleep sleep(*core, last); }
  std::thread([&] { core.reset(); }).join();
  home_core::go_home();
  home_core next(never_oversubscribed);
  next.adopt_thread();
  {
    const home_core::asleep sleep(next, last);
    EXPECT_EQ(allowed(), std::vector<int>{last}) << "the thread is free for another one";
  }
  EXPECT_EQ(allowed(), all);
}

TEST(home_core, that_does_not_exist_is_not_used) {
  std::thread([] {
    const std::vector<int> all = allowed();
    home_core core(never_oversubscribed);
    core.adopt_thread();
    const home_core::asleep sleep(core, CPU_SETSIZE - 1);
    EXPECT_EQ(allowed(), all);
  }).join();
}

}  // namespace
}  // namespace ham::base
