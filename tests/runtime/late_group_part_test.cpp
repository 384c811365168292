// What a node of a group answers behind its device: results, errors, barriers.
#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "ham/offload/group.hpp"
#include "runtime/device_job.hpp"

namespace ham::inline v1::late_group_part_functions {

/// An odd number on a device, an even one elsewhere.
int twice_and_place(int value) { return 2 * value + (device::detail::this_lane() != nullptr ? 1 : 0); }
std::uint32_t place_in_group(offload::group_place here) { return 100 * here.size + here.position; }
void throws_on_each(int value) { throw value; }
std::atomic<int> that_have_ended{0};
void ends_late(int /*value*/) {
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  that_have_ended.fetch_add(1);
}

}  // namespace ham::late_group_part_functions

HAM_DEVICE_FUNCTION(ham::late_group_part_functions::twice_and_place, thread)
HAM_DEVICE_FUNCTION(ham::late_group_part_functions::place_in_group, block)
HAM_DEVICE_FUNCTION(ham::late_group_part_functions::throws_on_each, thread)
HAM_DEVICE_FUNCTION(ham::late_group_part_functions::ends_late, thread)

namespace ham::inline v1 {
namespace {

using namespace late_group_part_functions;

class late_group_part_job : public test::device_job {};

TEST_F(late_group_part_job, answers_with_the_result_of_the_device) {
  const offload::group all;
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(offload::sync_all(all, fn<&twice_and_place>, i), (std::vector<int>{2 * i + 1, 2 * i, 2 * i}));
    EXPECT_EQ(offload::reduce_all(all, fn<&twice_and_place>, std::plus<>(), i).get(), 6 * i + 1);
  }
  EXPECT_EQ(offload::sync_all(offload::group{{3, 1, 0}}, fn<&twice_and_place>, 1), (std::vector<int>{2, 3, 2}));
}

TEST_F(late_group_part_job, knows_its_place_also_on_the_device) {
  const offload::group some{{2, 1, 3}};
  EXPECT_EQ(offload::sync_all(some, fn<&place_in_group>, offload::group_place{}),
            (std::vector<std::uint32_t>{300, 301, 302}));
  EXPECT_EQ(offload::sync_all(some, fn<&place_in_group>, offload::group_place{7, 9}),
            (std::vector<std::uint32_t>{300, 301, 302}))
      << "whatever the caller gives";
}

TEST_F(late_group_part_job, answers_with_what_the_device_has_against_the_call) {
  const auto found = offload::async_all(offload::group(), fn<&throws_on_each>, 1).get();
  ASSERT_FALSE(found.ok(0));
  const std::string why = test::message_of<call_error>([&] { std::rethrow_exception(found.error(0)); });
  EXPECT_NE(why.find("exceptions do not leave devices"), std::string::npos) << why;
}

TEST_F(late_group_part_job, passes_a_barrier_when_the_device_has_executed_what_was_before) {
  const offload::group one{{1}};
  offload::barrier(one).get().values();
  that_have_ended.store(0);
  for (int round = 1; round <= 3; ++round) {
    std::vector<offload::future<offload::group_result<void>>> under_way;
    for (int i = 0; i < 40; ++i) under_way.push_back(offload::async_all(one, fn<&ends_late>, i));
    offload::barrier(one).get().values();
    EXPECT_EQ(that_have_ended.load(), 40 * round);
    for (auto& each : under_way) each.get().values();
  }
}

}  // namespace
}  // namespace ham
