// Progress by hand.
#include "ham/offload/progress.hpp"

#include <atomic>
#include <chrono>

#include "offload/loopback_job.hpp"

using namespace ham;
using namespace ham::test;

namespace progress_test {

std::atomic<int> called_back{0};
void count_here() { ++called_back; }
void call_host(int times) {
  for (int i = 0; i < times; ++i) offload::ping(0, fn<&count_here>);
}

class progress : public two_targets {
 protected:
  progress() { called_back = 0; }
};

TEST_F(progress, executes_calls_that_have_arrived) {
  offload::sync(1, [] {});
  while (offload::progress()) {
  }
  auto later = offload::async(1, fn<&call_host>, 3);
  EXPECT_TRUE(eventually([] {
    offload::progress();
    return called_back == 3;
  }));
  EXPECT_TRUE(later.wait_for(20s));
  EXPECT_FALSE(offload::progress()) << "there is nothing left";
}

TEST_F(progress, runs_continuations) {
  bool ran = false;
  auto chain = offload::async(1, [] {}).then([&] { ran = true; });
  EXPECT_TRUE(eventually([&] {
    offload::progress();
    return ran;
  }));
  chain.get();
}

TEST_F(progress, for_a_time_serves_and_comes_back) {
  auto later = offload::async(1, fn<&call_host>, 5);
  const auto begin = std::chrono::steady_clock::now();
  offload::progress_for(50ms);
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(took, 50ms);
  EXPECT_LT(took, 10s);
  EXPECT_EQ(called_back.load(), 5);
  offload::progress_for(-1ms);
  later.get();
}

TEST(progress_without_a_runtime, is_an_error) { EXPECT_THROW((void)offload::progress(), config_error); }

}  // namespace progress_test
