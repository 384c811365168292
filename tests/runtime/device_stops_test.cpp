// Calls of a device that wait when their callers want to stop them.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

#include "ham/offload/stop.hpp"
#include "runtime/device_job.hpp"

namespace ham::inline v1::device_stops_functions {

std::atomic<bool> block_is_held{false};
std::atomic<bool> may_release_block{false};
std::atomic<int> counted_runs{0};
int holds_its_block(int value) {
  block_is_held.store(true);
  while (!may_release_block.load()) std::this_thread::yield();
  return value;
}
int counts_itself(int value) {
  counted_runs.fetch_add(1);
  return value;
}
int fills_the_queue(int value) { return value; }

}  // namespace ham::device_stops_functions

HAM_DEVICE_FUNCTION(ham::device_stops_functions::holds_its_block, thread)
HAM_DEVICE_FUNCTION(ham::device_stops_functions::counts_itself, thread)
HAM_DEVICE_FUNCTION(ham::device_stops_functions::fills_the_queue, thread)

namespace ham::inline v1 {
namespace {

using namespace device_stops_functions;
using namespace std::chrono_literals;

/// A function occupies the block for calls without a context.
class device_stops : public test::device_job {
 protected:
  static constexpr std::size_t in_queue = device::detail::queue_slots - 1;  // behind it
  static constexpr std::size_t count = in_queue + 40;

  device_stops() {
    block_is_held.store(false);
    may_release_block.store(false);
    counted_runs.store(0);
    first = offload::async(1, fn<&holds_its_block>, 5);
    EXPECT_TRUE(test::eventually([] { return block_is_held.load(); }));
  }
  ~device_stops() override { may_release_block.store(true); }

  static void expect_not_run(offload::future<int>& one) {
    try {
      one.get();
      ADD_FAILURE() << "it was executed";
    } catch (const operation_cancelled& stopped) {
      EXPECT_EQ(stopped.outcome(), call_outcome::not_run) << stopped.what();
    }
  }
  /// The device's thread has seen all stops that were requested before: also those of calls behind a full queue.
  void pass_all_stops() {
    for (std::size_t i = 0; i < in_queue; ++i) others_.push_back(offload::async(1, fn<&fills_the_queue>, 0));
    for (int i = 0; i < 3; ++i) {
      auto one = offload::async(offload::stoppable(1), fn<&counts_itself>, i);
      static_cast<void>(one.request_stop());
      expect_not_run(one);
      std::this_thread::sleep_for(5ms);
    }
  }

  offload::future<int> first;

 private:
  std::vector<offload::future<int>> others_;
};

TEST_F(device_stops, take_out_calls_that_wait) {
  std::vector<offload::future<int>> all;
  for (std::size_t i = 0; i < count; ++i)
    all.push_back(offload::async(offload::stoppable(1), fn<&counts_itself>, static_cast<int>(i)));
  offload::sync(1, [] {});  // all have come: the queue is full
  for (auto& one : all) static_cast<void>(one.request_stop());
  for (std::size_t i = in_queue; i < count; ++i) expect_not_run(all[i]);  // while the block is occupied
  pass_all_stops();
  may_release_block.store(true);
  EXPECT_EQ(first.get(), 5);
  for (std::size_t i = 0; i < in_queue; ++i) expect_not_run(all[i]);
  EXPECT_EQ(counted_runs.load(), 0);
  EXPECT_EQ(offload::sync(1, fn<&counts_itself>, 7), 7) << "the device goes on";
}

TEST_F(device_stops, leave_other_calls_in_their_order) {
  std::vector<offload::future<int>> stopped;
  std::vector<offload::future<int>> others;
  for (std::size_t i = 0; i < count; ++i) {
    stopped.push_back(offload::async(offload::stoppable(1), fn<&counts_itself>, 0));
    others.push_back(offload::async(1, fn<&counts_itself>, static_cast<int>(i)));
  }
  for (auto& one : stopped) static_cast<void>(one.request_stop());
  pass_all_stops();
  may_release_block.store(true);
  for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(others[i].get(), static_cast<int>(i));
  for (auto& one : stopped) expect_not_run(one);
  EXPECT_EQ(counted_runs.load(), static_cast<int>(count));
}

TEST_F(device_stops, take_out_calls_whose_deadline_has_passed) {
  std::vector<offload::future<int>> all;
  for (std::size_t i = 0; i < count; ++i)
    all.push_back(offload::async(offload::within(1, 50ms), fn<&counts_itself>, static_cast<int>(i)));
  for (auto& one : all) EXPECT_THROW(one.get(), deadline_exceeded);
  pass_all_stops();
  may_release_block.store(true);
  EXPECT_EQ(first.get(), 5);
  EXPECT_EQ(offload::sync(1, fn<&counts_itself>, 7), 7);
  EXPECT_EQ(counted_runs.load(), 1) << "that one";
}

}  // namespace
}  // namespace ham
