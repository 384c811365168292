// Events wait for a thread that makes progress: in order, bounded, none lost.
#include "core/event_reports.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace event_reports_test {

using namespace ham;
using offload::event;
using offload::event_kind;

class event_reports : public testing::Test {
 protected:
  void keep() {
    reports_.use([this](const event& what) { received_.push_back(what); });
  }
  /// Runs what is due, as a thread that makes progress does; at most `count`.
  void run(int count = 1000) {
    for (int i = 0; i < count; ++i) {
      detail::continuation* const one = due_.pop();
      if (one == nullptr) return;
      one->run(one);
    }
  }

  detail::ready_queue due_;
  detail::event_reports reports_{due_};
  std::vector<event> received_;
};

TEST_F(event_reports, nothing_is_kept_without_a_handler) {
  EXPECT_FALSE(reports_.wanted());
  reports_.add(event_kind::lost, 1, "too early");
  EXPECT_TRUE(due_.empty());
  keep();
  EXPECT_TRUE(reports_.wanted());
  run();
  EXPECT_TRUE(received_.empty());
}

TEST_F(event_reports, are_received_in_order_when_what_is_due_runs) {
  keep();
  reports_.add(event_kind::joined, 3);
  reports_.add(event_kind::lost, 2, "its cable was cut");
  reports_.add(event_kind::lost, 3, "it was removed", true);
  EXPECT_TRUE(received_.empty());
  run();
  ASSERT_EQ(received_.size(), 3U);
  EXPECT_EQ(received_[0].kind, event_kind::joined);
  EXPECT_EQ(received_[0].node, 3);
  EXPECT_EQ(received_[1].reason, "its cable was cut");
  EXPECT_FALSE(received_[1].orderly);
  EXPECT_TRUE(received_[2].orderly);
  EXPECT_TRUE(due_.empty());
}

TEST_F(event_reports, those_that_repeat_are_counted) {
  keep();
  for (int i = 0; i < 10'000; ++i) {
    reports_.add(event_kind::deadline_missed, 1, "first" + std::to_string(i));
    reports_.add(event_kind::queue_full, 1);
    reports_.add(event_kind::queue_full, 2);
  }
  run();
  ASSERT_EQ(received_.size(), 3U);
  for (const event& one : received_) EXPECT_EQ(one.count, 10'000U);
  EXPECT_EQ(received_[0].reason, "first0");
}

TEST_F(event_reports, counting_does_not_pass_the_end_of_the_node) {
  keep();
  reports_.add(event_kind::queue_full, 1);
  reports_.add(event_kind::lost, 1);
  reports_.add(event_kind::joined, 1);
  reports_.add(event_kind::queue_full, 1);
  run();
  EXPECT_EQ(received_.size(), 4U);
}

TEST_F(event_reports, beyond_the_bound_they_are_counted_by_kind) {
  keep();
  constexpr auto most = static_cast<node_t>(detail::event_reports::max_waiting);
  for (node_t node = 0; node < 2 * most; ++node) reports_.add(event_kind::lost, node, "all at once");
  for (node_t node = 0; node < 5; ++node) reports_.add(event_kind::joined, node);
  run();
  ASSERT_EQ(received_.size(), detail::event_reports::max_waiting + 2);
  std::uint64_t lost = 0, joined = 0;
  for (const event& one : received_) (one.kind == event_kind::lost ? lost : joined) += one.count;
  EXPECT_EQ(lost, 2U * most);
  EXPECT_EQ(joined, 5U);
  EXPECT_EQ(received_.back().node, -1);
  reports_.add(event_kind::lost, 7);
  run();
  EXPECT_EQ(received_.back().node, 7);  // there is room again
}

TEST_F(event_reports, what_happens_in_the_handler_is_received_afterwards) {
  int depth = 0, deepest = 0;
  reports_.use([&](const event& what) {
    deepest = std::max(deepest, ++depth);
    received_.push_back(what);
    if (what.node < 3) reports_.add(event_kind::joined, what.node + 1);
    run();  // it makes progress itself
    --depth;
  });
  reports_.add(event_kind::joined, 0);
  run(1);
  EXPECT_EQ(received_.size(), 1U);
  run();
  EXPECT_EQ(received_.size(), 4U);
  EXPECT_EQ(deepest, 1);
}

TEST_F(event_reports, a_handler_may_throw_and_be_exchanged) {
  reports_.use([](const event&) { throw std::runtime_error("no paper left"); });
  reports_.add(event_kind::joined, 1);
  testing::internal::CaptureStderr();
  run();
  EXPECT_NE(testing::internal::GetCapturedStderr().find("no paper left"), std::string::npos);
  keep();
  reports_.add(event_kind::joined, 2);
  reports_.use({});
  run();
  EXPECT_TRUE(received_.empty());
  EXPECT_FALSE(reports_.wanted());
}

TEST(event_kind_texts, name_all_kinds) {
  EXPECT_STREQ(offload::to_string(event_kind::deadline_missed), "deadline missed");
  EXPECT_STREQ(offload::to_string(static_cast<event_kind>(200)), "unknown");
}

}  // namespace event_reports_test
