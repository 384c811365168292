// What a program is told of its nodes, where they are threads of one process; of processes: tests/multiprocess.
#include "ham/offload/event.hpp"
#include "ham/offload/graph.hpp"

#include <atomic>
#include <vector>

#include "offload/gate.hpp"
#include "offload/loopback_job.hpp"

using namespace ham;
using namespace ham::test;

namespace event_test {

using offload::event;
using offload::event_kind;

void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }
int echo(int value) { return value; }

class events : public two_targets {
 protected:
  events() {
    offload::on_event([this](const event& what) { received_.push_back(what); });
  }
  [[nodiscard]] std::uint64_t count(event_kind kind, node_t node) const {
    std::uint64_t sum = 0;
    for (const event& one : received_) sum += one.kind == kind && one.node == node ? one.count : 0;
    return sum;
  }

  closed_gate gate_;
  std::vector<event> received_;  // all in the one thread that makes progress
};

TEST_F(events, a_missed_deadline_names_node_and_function) {
  auto late = offload::async(offload::within(2, 10ms), fn<&hold>);
  EXPECT_THROW(late.get(), deadline_exceeded);
  gate_.open();
  offload::sync(2, fn<&echo>, 1);
  EXPECT_EQ(count(event_kind::deadline_missed, 2), 1U);
  ASSERT_FALSE(received_.empty());
  EXPECT_NE(received_[0].reason.find("hold"), std::string::npos) << received_[0].reason;
}

TEST_F(events, a_replay_that_misses_its_deadline_is_one_of_the_node_that_made_it) {
  offload::graph g;
  auto step = g.compile(g.call(2, fn<&hold>));
  EXPECT_THROW(step.within(10ms)().get(), deadline_exceeded);
  gate_.open();
  EXPECT_NO_THROW(step().get());
  EXPECT_EQ(count(event_kind::deadline_missed, 0), 1U);
  ASSERT_FALSE(received_.empty());
  EXPECT_EQ(received_[0].reason, "a replay of a graph");
}

TEST_F(events, a_full_queue_is_received_once_for_each_call_that_waits) {
  auto busy = offload::async(1, fn<&sleep_ms>, 100);
  std::vector<offload::future<int>> many;
  for (int i = 0; i < 20'000; ++i) many.push_back(offload::async(1, fn<&echo>, i));
  for (int i = 0; i < 20'000; ++i) EXPECT_EQ(many[static_cast<std::size_t>(i)].get(), i);
  busy.get();
  EXPECT_GE(count(event_kind::queue_full, 1), 1U);
  EXPECT_LE(count(event_kind::queue_full, 1), 20'000U);
  EXPECT_EQ(count(event_kind::queue_full, 2), 0U);
}

TEST_F(events, a_handler_may_call_and_what_that_causes_is_told) {
  int made = 0;
  offload::on_event([&](const event& what) {
    received_.push_back(what);
    if (++made > 1) return;
    EXPECT_THROW(offload::sync(offload::within(1, 5ms), fn<&hold>), deadline_exceeded);
    gate_.open();
  });
  EXPECT_THROW(offload::sync(offload::within(2, 5ms), fn<&hold>), deadline_exceeded);
  for (int i = 0; i < 100 && made < 2; ++i) offload::sync(2, fn<&echo>, i);
  EXPECT_EQ(count(event_kind::deadline_missed, 2), 1U);
  EXPECT_EQ(count(event_kind::deadline_missed, 1), 1U);
}

TEST_F(events, none_without_a_handler) {
  offload::on_event({});
  EXPECT_THROW(offload::sync(offload::within(2, 5ms), fn<&hold>), deadline_exceeded);
  gate_.open();
  offload::sync(2, fn<&echo>, 1);
  EXPECT_TRUE(received_.empty());
}

TEST(on_event, needs_a_runtime) {
  EXPECT_THROW(offload::on_event([](const event&) {}), config_error);
}

}  // namespace event_test
