// What ham-top makes of two readings.
#include "../../tools/top/view.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ham::inline v1::top {
namespace {

using activity = node_counters::activity;

node_counters counted_node(node_t number, activity now = activity::asleep) {
  node_counters made;
  made.node = made.number = number;
  made.pid = 100 + number;
  made.machine = number < 2 ? "alpha" : "beta";
  made.seen_by_host = false;
  made.now = now;
  return made;
}

job_counters counted_job(double at_s, std::vector<node_counters> nodes) {
  return {10, 1, "app", at_s, std::move(nodes)};
}

std::vector<node_t> numbers(const std::vector<shown_job>& jobs) {
  std::vector<node_t> result;
  for (const shown_job& job : jobs)
    for (const shown_node& one : job.nodes) result.push_back(one.counters.number);
  return result;
}

TEST(top_view, has_rates_between_two_readings) {
  node_counters before = counted_node(1);
  before.all = {10, 20, 1000, 2000, 0};
  before.took = {{1e-6, 5}};
  node_counters now = before;
  now.all = {14, 30, 1500, 2100, 3};
  now.took = {{1e-6, 5}, {1e-3, 99}, {0.5, 1}};
  const auto jobs = between({counted_job(1, {before})}, {counted_job(3, {now})});
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_EQ(jobs[0].interval_s, 2);
  const shown_node& one = jobs[0].nodes.at(0);
  EXPECT_EQ(one.calls_out_s, 2);
  EXPECT_EQ(one.calls_in_s, 5);
  EXPECT_EQ(one.bytes_out_s, 250);
  EXPECT_EQ(one.bytes_in_s, 50);
  EXPECT_EQ(one.p50_s, 1e-3);
  EXPECT_EQ(one.p99_s, 1e-3);
}

TEST(top_view, knows_no_rates_of_what_is_new) {
  const job_counters job = counted_job(3, {counted_node(1)});
  EXPECT_LT(between({}, {job})[0].nodes.at(0).calls_in_s, 0);
  EXPECT_LT(between({counted_job(1, {counted_node(2)})}, {job})[0].nodes.at(0).calls_in_s, 0);
  node_counters other_process = counted_node(1);
  other_process.pid = 999;
  EXPECT_LT(between({counted_job(1, {other_process})}, {job})[0].nodes.at(0).calls_in_s, 0);
  job_counters other_job = counted_job(1, {counted_node(1)});
  other_job.serial = 2;
  EXPECT_LT(between({other_job}, {job})[0].nodes.at(0).calls_in_s, 0);
  EXPECT_LT(between({job}, {job})[0].nodes.at(0).calls_in_s, 0) << "no time has passed";
}

TEST(top_view, has_no_rates_below_zero) {
  node_counters before = counted_node(1);
  before.all.calls_sent = 10;
  EXPECT_EQ(between({counted_job(1, {before})}, {counted_job(2, {counted_node(1)})})[0].nodes.at(0).calls_out_s, 0);
}

TEST(top_view, sees_that_a_node_polls_by_what_it_has_received) {
  const node_counters before = counted_node(0, activity::away);
  node_counters now = before;
  const auto state = [&] {
    return between({counted_job(1, {before})}, {counted_job(2, {now})})[0].nodes.at(0).counters.now;
  };
  EXPECT_EQ(state(), activity::away);
  now.all.bytes_received = 1;
  EXPECT_EQ(state(), activity::spinning);
  now.now = activity::asleep;
  EXPECT_EQ(state(), activity::asleep);
}

std::vector<shown_job> four_nodes() {
  std::vector<shown_job> jobs(1);
  for (const node_t number : {0, 1, 2, 3}) {
    shown_node one;
    one.counters = counted_node(number);
    jobs[0].nodes.push_back(one);
  }
  auto& nodes = jobs[0].nodes;
  nodes[0].calls_in_s = 5;
  nodes[1].p99_s = 0.5;
  nodes[2].counters.rss_bytes = 100;
  nodes[3].counters.restarts = 1;
  nodes[1].counters.queued = 7;
  nodes[2].counters.all.waiting = 1;
  nodes[3].bytes_in_s = 1000;
  nodes[3].counters.now = activity::gone;
  return jobs;
}

TEST(top_view, sorts_by_each_column) {
  const auto first_by = [](sort_key key) {
    std::vector<shown_job> jobs = four_nodes();
    filter all;
    all.gone = true;
    arrange(jobs, key, all);
    return numbers(jobs).at(0);
  };
  EXPECT_EQ(first_by(sort_key::node), 0);
  EXPECT_EQ(first_by(sort_key::in), 0);
  EXPECT_EQ(first_by(sort_key::p99), 1);
  EXPECT_EQ(first_by(sort_key::queue), 1);
  EXPECT_EQ(first_by(sort_key::rss), 2);
  EXPECT_EQ(first_by(sort_key::outbox), 2);
  EXPECT_EQ(first_by(sort_key::restarts), 3);
  EXPECT_EQ(first_by(sort_key::bytes), 3);
}

TEST(top_view, knows_its_columns_by_name) {
  for (std::size_t i = 0; i < sort_key_names().size(); ++i)
    EXPECT_EQ(sort_key_of(sort_key_names()[i]), static_cast<sort_key>(i));
  EXPECT_EQ(sort_key_of("p99"), sort_key::p99);
  EXPECT_FALSE(sort_key_of("weight").has_value());
  EXPECT_EQ(next(sort_key::node), sort_key::in);
  EXPECT_EQ(next(sort_key::restarts), sort_key::node);
}

TEST(top_view, shows_what_is_asked_for) {
  const auto shown_by = [](auto change) {
    filter by;
    change(by);
    std::vector<shown_job> jobs = four_nodes();
    arrange(jobs, sort_key::node, by);
    return numbers(jobs);
  };
  EXPECT_EQ(shown_by([](filter&) {}), (std::vector<node_t>{0, 1, 2})) << "3 has gone";
  EXPECT_EQ(shown_by([](filter& by) { by.gone = true; }), (std::vector<node_t>{0, 1, 2, 3}));
  EXPECT_EQ(shown_by([](filter& by) { by.state = "gone"; }), (std::vector<node_t>{3}));
  EXPECT_EQ(shown_by([](filter& by) { by.nodes = {2, 0}; }), (std::vector<node_t>{0, 2}));
  EXPECT_EQ(shown_by([](filter& by) { by.machine = "alph"; }), (std::vector<node_t>{0, 1}));
  EXPECT_EQ(shown_by([](filter& by) { by.state = "busy"; }), (std::vector<node_t>{}));
  std::vector<shown_job> jobs = four_nodes();
  filter none;
  none.machine = "gamma";
  arrange(jobs, sort_key::node, none);
  EXPECT_TRUE(jobs.empty());
}

}  // namespace
}  // namespace ham::top
