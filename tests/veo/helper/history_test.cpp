// Results of earlier requests: the last 1024 of the thread, without those that had none.
#include "veo/helper/history.hpp"

#include <gtest/gtest.h>

#include <climits>
#include <thread>

#include "veo_ve.h"

namespace ham::inline v1::veo {
namespace {

/// A thread of its own begins with no history.
template <class Test>
void on_a_thread(Test test) {
  std::thread(test).join();
}

constexpr std::uint64_t none = 0xdead;
std::uint64_t result_of(int back) {
  std::uint64_t value = none;
  return veo_prev_req_result(back, &value) == 0 ? value : none;
}

TEST(history, begins_empty_on_every_thread) {
  remember_result(1);
  on_a_thread([] {
    EXPECT_EQ(result_of(0), none);
    remember_result(7);
    EXPECT_EQ(result_of(0), 7U);
    EXPECT_EQ(result_of(1), none);
  });
}

TEST(history, counts_back_from_the_newest) {
  on_a_thread([] {
    for (std::uint64_t i = 0; i < 10; ++i) remember_result(i);
    for (int i = 0; i < 10; ++i) EXPECT_EQ(result_of(i), static_cast<std::uint64_t>(9 - i));
    EXPECT_EQ(result_of(10), none);
  });
}

TEST(history, forgets_what_is_too_old) {
  on_a_thread([] {
    for (std::uint64_t i = 0; i < 1025; ++i) remember_result(i);
    EXPECT_EQ(result_of(0), 1024U);
    EXPECT_EQ(result_of(1023), 1U);
    EXPECT_EQ(result_of(1024), none) << "the first one was overwritten";
  });
}

TEST(history, requests_without_a_result_have_their_place) {
  on_a_thread([] {
    remember_result(1);
    remember_none(2);
    remember_result(4);
    EXPECT_EQ(result_of(0), 4U);
    EXPECT_EQ(result_of(1), none);
    EXPECT_EQ(result_of(2), none);
    EXPECT_EQ(result_of(3), 1U);
    remember_none(0);
    EXPECT_EQ(result_of(0), 4U);
  });
}

TEST(history, a_host_may_say_any_number_of_requests) {
  for (const std::uint32_t requests : {1023U, 1024U, 1025U, 5000U, UINT32_MAX}) {
    on_a_thread([requests] {
      remember_result(1);
      remember_none(requests);
      remember_result(2);
      EXPECT_EQ(result_of(0), 2U);
      for (int i = 1; i < 1030; ++i) EXPECT_EQ(result_of(i), none) << i << " behind " << requests;
    });
  }
  on_a_thread([] {
    remember_result(1);
    remember_none(1022);
    EXPECT_EQ(result_of(1022), 1U) << "the last that is known";
  });
}

TEST(history, questions_without_sense_have_no_answer) {
  remember_result(1);
  std::uint64_t value = none;
  EXPECT_EQ(veo_prev_req_result(-1, &value), -1);
  EXPECT_EQ(veo_prev_req_result(INT_MIN, &value), -1);
  EXPECT_EQ(veo_prev_req_result(INT_MAX, &value), -1);
  EXPECT_EQ(veo_prev_req_result(0, nullptr), -1);
  EXPECT_EQ(value, none);
}

}  // namespace
}  // namespace ham::veo
