// A process of another library: used until it fails or ends, and by nobody after that.
#include "transport/common/reachability.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace ham::inline v1::transport {
namespace {

TEST(reachability, lasts_while_its_use_succeeds) {
  reachability process;
  int uses = 0;
  for (int i = 0; i < 3; ++i) process.use([&] { return ++uses > 0; });
  EXPECT_EQ(uses, 3);
  EXPECT_FALSE(process.lost());
}

TEST(reachability, is_lost_for_good_when_a_use_fails) {
  reachability process;
  process.use([] { return false; });
  EXPECT_TRUE(process.lost());
  int uses = 0;
  process.use([&] { return ++uses > 0; });
  EXPECT_EQ(uses, 0);
  EXPECT_TRUE(process.lost()) << "nothing brings it back";
}

TEST(reachability, of_a_process_that_was_ended_is_used_no_more) {
  reachability process;
  process.end();
  process.end();
  int uses = 0;
  process.use([&] { return ++uses > 0; });
  EXPECT_EQ(uses, 0);
  EXPECT_TRUE(process.lost());
}

TEST(reachability, lets_several_threads_use_it_at_the_same_time) {
  reachability process;
  std::atomic<int> inside{0};
  const auto together = [&] {
    process.use([&] {
      ++inside;
      while (inside.load() < 2) std::this_thread::yield();
      return true;
    });
  };
  std::thread other(together);
  together();
  other.join();
  EXPECT_EQ(inside.load(), 2);
}

TEST(reachability, ends_after_whoever_is_inside_has_left) {
  reachability process;
  std::atomic<bool> inside{false};
  std::atomic<bool> ending{false};
  std::atomic<bool> left{false};
  std::thread user([&] {
    process.use([&] {
      inside = true;
      while (!ending.load()) std::this_thread::yield();
      for (int i = 0; i < 100; ++i) std::this_thread::yield();
      left = true;
      return true;
    });
  });
  while (!inside.load()) std::this_thread::yield();
  ending = true;
  process.end();
  EXPECT_TRUE(left.load()) << "it would have been destroyed under its user";
  user.join();
}

}  // namespace
}  // namespace ham::transport
