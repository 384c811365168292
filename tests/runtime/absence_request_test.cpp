// Who is called when there is work for the absence of the resident kernel, and when.
#include "runtime/absence_request.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace ham::inline v1::detail {
namespace {

struct request_of_test : absence_request {
  using absence_request::clear_wanted;
  using absence_request::wake;
  using absence_request::want;
};

TEST(absence_request, is_wanted_until_it_is_cleared) {
  request_of_test one;
  EXPECT_FALSE(one.wanted());
  one.want();
  one.want();
  EXPECT_TRUE(one.wanted());
  one.clear_wanted();
  EXPECT_FALSE(one.wanted());
}

TEST(absence_request, calls_when_it_is_woken_only) {
  request_of_test one;
  one.wake();
  int called = 0;
  one.on_wanted([&called] { ++called; });
  one.want();
  EXPECT_EQ(called, 0);
  one.wake();
  EXPECT_EQ(called, 1);
  one.on_wanted({});
  one.wake();
  EXPECT_EQ(called, 1);
}

TEST(absence_request, can_be_read_by_what_it_calls) {
  request_of_test one;
  bool seen = false;
  one.on_wanted([&] { seen = one.wanted(); });
  one.want();
  one.wake();
  EXPECT_TRUE(seen);
}

TEST(absence_request, calls_nothing_that_has_been_taken_back) {
  request_of_test one;
  std::atomic<bool> ending{false};
  std::thread waking([&] {
    while (!ending) {
      one.wake();
      std::this_thread::yield();
    }
  });
  for (int i = 0; i < 100; ++i) {
    std::atomic<bool> alive{true};
    one.on_wanted([&alive] { EXPECT_TRUE(alive); });
    one.on_wanted({});
    alive = false;
  }
  ending = true;
  waking.join();
}

}  // namespace
}  // namespace ham::detail
