// Fences by membarrier, and what is left of them where the kernel refuses it.
#include "base/heavy_fence.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "base/biased_lock.hpp"
#include "base/clock.hpp"
#include "forbidden_calls.hpp"

namespace ham::inline v1::base {
namespace {

/// Exit status of a child that does `what`.
template <class What>
int in_a_child(What what) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(what());
  int status = -1;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(heavy_fence, works_if_it_could_be_registered) { EXPECT_EQ(heavy_fence(), register_heavy_fence()); }

TEST(heavy_fence, says_that_the_kernel_has_come_to_refuse_it) {
  EXPECT_EQ(in_a_child([] {
              static_cast<void>(register_heavy_fence());
              test::forbid_membarrier();
              return heavy_fence() ? 1 : 0;
            }),
            0);
}

TEST(heavy_fence, of_a_process_waits_instead) {
  if (!register_heavy_fence()) GTEST_SKIP() << "no membarrier here";
  EXPECT_EQ(in_a_child([] {
              test::forbid_membarrier();
              const std::int64_t before = now_ns();
              heavy_fence_private();
              return now_ns() - before >= 5'000'000 ? 0 : 1;  // stores of others have become visible by then
            }),
            0);
}

TEST(heavy_fence, of_a_process_goes_on_without_the_kernel) {
  EXPECT_EQ(in_a_child([] {
              biased_lock lock;
              lock.lock();
              lock.unlock();
              test::forbid_membarrier();
              // Another thread takes the bias away, with the first one at work.
              int sum = 0;
              constexpr int each = 20'000;
              const auto count = [&] {
                for (int i = 0; i < each; ++i) {
                  lock.lock();
                  sum = sum + 1;
                  lock.unlock();
                }
              };
              std::thread other(count);
              count();
              other.join();
              return sum == 2 * each ? 0 : 1;
            }),
            0);
}

}  // namespace
}  // namespace ham::base
