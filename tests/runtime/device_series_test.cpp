// Chunks of maps on a device: many calls of one function for one received call.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <numeric>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "bulk.hpp"
#include "ham/offload/context.hpp"
#include "ham/offload/detail/late_answer.hpp"
#include "ham/offload/pool.hpp"
#include "ham/offload/stop.hpp"
#include "runtime/device_job.hpp"

namespace ham::inline v1::device_series_functions {

/// Negative elsewhere than on a device.
int tripled_there(int value) { return device::detail::this_lane() != nullptr ? 3 * value : -1; }
bool is_even(int value) noexcept { return value % 2 == 0; }
std::atomic<int> last_number{-1};
bool follows(int number) { return last_number.exchange(number) == number - 1; }
std::atomic<int> run_so_far{0};
int fails_at_forty(int value) {
  run_so_far.fetch_add(1);
  if (value == 40) throw value;
  return value;
}
int waits_for_node_2(int ms) {
  return offload::sync(2, [ms] {
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
    return ms;
  });
}
int takes_a_while(int value) {
  run_so_far.fetch_add(1);
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return value;
}

}  // namespace ham::device_series_functions

HAM_DEVICE_FUNCTION(ham::device_series_functions::tripled_there, block)
HAM_DEVICE_FUNCTION(ham::device_series_functions::is_even, thread)
HAM_DEVICE_FUNCTION(ham::device_series_functions::follows, thread)
HAM_DEVICE_FUNCTION(ham::device_series_functions::fails_at_forty, thread)
HAM_DEVICE_FUNCTION(ham::device_series_functions::takes_a_while, thread)

namespace ham::inline v1 {
namespace {

using namespace device_series_functions;

std::vector<int> from_zero(std::size_t count) {
  std::vector<int> result(count);
  std::iota(result.begin(), result.end(), 0);
  return result;
}

class device_series_job : public test::device_job {
 protected:
  offload::pool on_device{{1}};
};

/// Threads of contexts that wait take replies of the device, too, and begin what comes next.
TEST_F(device_series_job, stays_in_its_context_whoever_takes_the_replies) {
  offload::context first(1), second(1), third(1);
  constexpr int wait_ms = 300;
  std::vector<offload::future<int>> waiting;
  for (offload::context* one : {&first, &second, &third})
    waiting.push_back(offload::async(*one, fn<&waits_for_node_2>, wait_ms));
  constexpr std::size_t count = test::unless_sanitized(5'000U, 500U);
  for (int round = 0; round < 4; ++round) {
    last_number.store(-1);
    const auto in_order = on_device.map(from_zero(count), fn<&follows>, {.chunk = count});
    EXPECT_EQ(std::count(in_order.begin(), in_order.end(), true), static_cast<std::ptrdiff_t>(count));
  }
  for (auto& one : waiting) EXPECT_EQ(one.get(), wait_ms);
}

TEST_F(device_series_job, gives_all_results_in_order) {
  for (const std::size_t count : {1U, 31U, 32U, 33U, test::unless_sanitized(2'000U, 400U)}) {
    const auto found = on_device.map(from_zero(count), fn<&tripled_there>, {.chunk = count});
    ASSERT_EQ(found.size(), count);
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(found[i], 3 * static_cast<int>(i));
  }
  const auto flags = on_device.map(from_zero(99), fn<&is_even>, {.chunk = 50});
  EXPECT_EQ(std::count(flags.begin(), flags.end(), true), 50);
}

TEST_F(device_series_job, begins_its_calls_one_after_the_other) {
  last_number.store(-1);
  const auto in_order = on_device.map(from_zero(1'000), fn<&follows>, {.chunk = 1'000});
  EXPECT_EQ(std::count(in_order.begin(), in_order.end(), true), 1'000);
}

TEST_F(device_series_job, ends_with_the_first_error) {
  run_so_far.store(0);
  const std::string why = test::message_of<call_error>(
      [&] { static_cast<void>(on_device.map(from_zero(5'000), fn<&fails_at_forty>, {.chunk = 5'000})); });
  EXPECT_NE(why.find("has thrown an exception"), std::string::npos) << why;
  EXPECT_LT(run_so_far.load(), 5'000) << "nothing begins behind it but what was under way";
  EXPECT_EQ(on_device.map(from_zero(3), fn<&tripled_there>), (std::vector<int>{0, 3, 6})) << "the device goes on";
}

TEST_F(device_series_job, fails_when_its_node_ends) {
  run_so_far.store(0);
  auto mapped = std::async(std::launch::async, [&] {
    return on_device.map(from_zero(20'000), fn<&takes_a_while>, {.chunk = 20'000}).size();
  });
  while (run_so_far.load() < 10) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  calls.reset();
  EXPECT_THROW(mapped.get(), error) << "else nobody would end the wait for it";
  EXPECT_LT(run_so_far.load(), 20'000);
}

/// The caller leaves its own deadline aside, so that the device's node answers.
TEST_F(device_series_job, answers_that_its_deadline_has_passed) {
  using callable = std::remove_cv_t<decltype(fn<&takes_a_while>)>;
  const auto chunk = offload::detail::chunk_maker<int, callable>::of(fn<&takes_a_while>);
  const auto send = [&](const offload::destination& to) { return offload::async(to, chunk, from_zero(2'000)); };
  for (std::chrono::milliseconds time(50);; time *= 2) {  // on a busy machine it may be over before the first element
    run_so_far.store(0);
    auto late = send(offload::within(1, time));
    ASSERT_TRUE(ham::detail::keep_beyond_deadline(*offload::detail::future_access::slot(late)));
    try {
      static_cast<void>(late.get());
      FAIL() << "all elements were executed";
    } catch (const deadline_exceeded& missed) {
      if (run_so_far.load() == 0 && time < std::chrono::seconds(1)) continue;
      EXPECT_EQ(missed.outcome(), call_outcome::may_have_run);
      EXPECT_NE(std::string(missed.what()).find("all of a chunk"), std::string::npos) << missed.what();
      break;
    }
  }
  auto stopped = send(offload::stoppable(1));
  EXPECT_TRUE(stopped.request_stop(offload::when_stopped::after_answer));
  EXPECT_THROW(static_cast<void>(stopped.get()), operation_cancelled);
}

TEST_F(device_series_job, is_a_loop_on_a_node_without_a_device) {
  offload::pool elsewhere{{2}};
  EXPECT_EQ(elsewhere.map(from_zero(3), fn<&tripled_there>), (std::vector<int>{-1, -1, -1}));
}

}  // namespace
}  // namespace ham
