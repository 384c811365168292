// Requests by their numbers: found until they were fetched, in whatever order that is.
#include "veo/host/request_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace ham::inline v1::veo {
namespace {

TEST(request_table, numbers_count_from_0) {
  request_table table;
  EXPECT_EQ(table.next(), 0U);
  EXPECT_EQ(table.find(0), nullptr);
  request_state& first = table.add();
  request_state& second = table.add();
  EXPECT_EQ(table.next(), 2U);
  EXPECT_EQ(table.find(0), &first);
  EXPECT_EQ(table.find(1), &second);
  EXPECT_EQ(table.find(2), nullptr);
  EXPECT_EQ(table.find(~std::uint64_t{0}), nullptr);
}

TEST(request_table, what_was_fetched_is_gone_and_its_neighbours_are_not) {
  request_table table;
  for (int i = 0; i < 3; ++i) table.add().at = stage::done;
  table.remove(1);
  EXPECT_EQ(table.find(0)->at, stage::done);
  EXPECT_EQ(table.find(2)->at, stage::done);
  const request_state* const removed = table.find(1);
  EXPECT_TRUE(removed == nullptr || removed->at == stage::gone);
}

TEST(request_table, places_stay_while_it_grows) {
  request_table table;
  request_state& first = table.add();
  first.value = 42;
  for (int i = 0; i < 5000; ++i) table.add();
  EXPECT_EQ(table.find(0), &first);
  EXPECT_EQ(table.find(0)->value, 42U);
}

TEST(request_table, an_old_request_outlasts_thousands_of_later_ones) {
  request_table table;
  table.add().value = 7;
  for (std::uint64_t id = 1; id < 10'000; ++id) {
    table.add().value = id;
    ASSERT_EQ(table.find(id)->value, id);
    table.remove(id);
  }
  ASSERT_NE(table.find(0), nullptr);
  EXPECT_EQ(table.find(0)->value, 7U);
  table.remove(0);
  for (const std::uint64_t id : {0, 1, 1023, 1024, 9000}) {
    const request_state* const old = table.find(id);
    EXPECT_TRUE(old == nullptr || old->at == stage::gone) << id;
  }
  EXPECT_EQ(table.next(), 10'000U);
}

TEST(request_table, is_used_in_any_order) {
  request_table table;
  std::mt19937 random(8);
  for (int round = 0; round < 5; ++round) {
    std::vector<std::uint64_t> ids(3000 + random() % 300);
    std::iota(ids.begin(), ids.end(), table.next());
    for (const std::uint64_t id : ids) {
      request_state& fresh = table.add();
      EXPECT_EQ(fresh.at, stage::gone) << "a place that was never used";
      fresh.at = stage::flying;
      fresh.value = id;
    }
    std::shuffle(ids.begin(), ids.end(), random);
    for (const std::uint64_t id : ids) {
      ASSERT_NE(table.find(id), nullptr);
      ASSERT_EQ(table.find(id)->value, id);
      table.remove(id);
    }
  }
}

}  // namespace
}  // namespace ham::veo
