// What nodes count, as a tool reads it.
#include "ham/offload/counters.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <thread>

#include "ham/offload.hpp"

namespace counters_test {

using namespace ham;
using activity = node_counters::activity;
using durations = std::vector<node_counters::duration>;

int counted(int value) { return value + 1; }
offload::peer_statistics stats_with_node(int node) { return offload::stats_with(node); }
int counts_while_it_runs() {
  const job_counters job = read_counters(::getpid()).at(0);
  for (const node_counters& one : job.nodes)
    if (one.node == offload::this_node()) return static_cast<int>(one.now);
  return -1;
}

/// The job of this process that was made last.
job_counters own_job() { return read_counters(::getpid()).at(0); }

class counters : public testing::Test {
 protected:
  static runtime_options two_nodes() {
    runtime_options options;
    options.nodes = "loopback:1";
    return options;
  }
  /// What is counted behind the reply is there a little later.
  template <class Done>
  static job_counters await(Done done) {
    job_counters now = own_job();
    for (int tries = 0; tries < 10'000 && !done(now); ++tries) {
      std::this_thread::yield();
      now = own_job();
    }
    EXPECT_TRUE(done(now));
    return now;
  }
};

TEST_F(counters, have_what_each_node_has_done) {
  runtime rt(two_nodes());
  const job_counters before = own_job();
  ASSERT_EQ(before.nodes.size(), 2U);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(offload::sync(1, fn<&counted>, i), i + 1);
  const job_counters now =
      await([&](const job_counters& one) { return one.nodes.at(1).executed == before.nodes.at(1).executed + 100; });
  EXPECT_EQ(now.pid, ::getpid());
  EXPECT_GT(now.read_at_s, before.read_at_s);
  const node_counters& host = now.nodes.at(0);
  const node_counters& target = now.nodes.at(1);
  EXPECT_EQ(host.all.calls_sent - before.nodes.at(0).all.calls_sent, 100U);
  EXPECT_EQ(target.all.calls_received - before.nodes.at(1).all.calls_received, 100U);
  EXPECT_GT(target.all.bytes_received, before.nodes.at(1).all.bytes_received);
  EXPECT_EQ(host.all.calls_sent, offload::stats().calls_sent);
  for (const node_counters* one : {&host, &target}) {
    EXPECT_FALSE(one->seen_by_host);
    EXPECT_EQ(one->pid, ::getpid());
    EXPECT_GT(one->rss_bytes, 0U);
    EXPECT_GT(one->age_s, 0);
    EXPECT_FALSE(one->machine.empty());
    EXPECT_EQ(one->peers.size(), 2U);
    EXPECT_EQ(one->restarts, 0U);
  }
  EXPECT_EQ(host.transport, "self");
  EXPECT_EQ(target.transport, "loopback");
  const durations took = added(before.nodes.at(1).took, target.took);
  EXPECT_GT(quantile(took, 0.5), 0);
  EXPECT_GE(quantile(took, 0.99), quantile(took, 0.5));
  EXPECT_LE(quantile(took, 0.99), 60);
  EXPECT_GT(target.executed_s, before.nodes.at(1).executed_s);
}

TEST_F(counters, say_that_a_node_executes) {
  runtime rt(two_nodes());
  EXPECT_EQ(offload::sync(1, fn<&counts_while_it_runs>), static_cast<int>(activity::busy));
  static_cast<void>(await([](const job_counters& one) { return one.nodes.at(1).now != activity::busy; }));
}

TEST_F(counters, count_calls_of_the_pool_once) {
  runtime rt(two_nodes());
  const std::uint64_t before = own_job().nodes.at(1).executed;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(offload::sync(1, pooled(fn<&counted>), i), i + 1);
  const job_counters now = await(
      [&](const job_counters& one) { return one.nodes.at(1).executed >= before + 10 && one.nodes.at(1).queued == 0; });
  EXPECT_EQ(now.nodes.at(1).executed, before + 10);
}

TEST_F(counters, of_jobs_that_have_ended_are_none) {
  { runtime rt(two_nodes()); }
  for (const job_counters& one : read_counters()) EXPECT_NE(one.pid, ::getpid());
  try {
    static_cast<void>(read_counters(::getpid()));
    FAIL() << "there are some";
  } catch (const config_error& problem) {
    EXPECT_NE(std::string(problem.what()).find("it is in no job of HAM"), std::string::npos) << problem.what();
  }
  EXPECT_THROW(static_cast<void>(read_counters(INT32_MAX)), config_error);
  EXPECT_THROW(static_cast<void>(read_counters(-1)), config_error);
}

TEST_F(counters, of_several_jobs_of_a_process_are_told_apart) {
  runtime first(two_nodes());
  runtime second(two_nodes());
  for (int i = 0; i < 5; ++i) EXPECT_EQ(offload::sync(first.node(1), fn<&counted>, i), i + 1);
  const auto jobs = read_counters(::getpid());
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_EQ(jobs[0].nodes.size(), 2U) << "of the second";
  EXPECT_EQ(jobs[1].nodes.size(), 2U);
  EXPECT_GE(jobs[1].nodes[1].all.calls_received, jobs[0].nodes[1].all.calls_received + 5);
}

TEST_F(counters, of_peers_can_be_asked_for_in_the_program) {
  runtime rt(two_nodes());
  const offload::peer_statistics before = offload::stats_with(1);
  EXPECT_EQ(offload::sync(1, fn<&counted>, 1), 2);
  const offload::peer_statistics now = offload::stats_with(1);
  EXPECT_EQ(now.calls_sent - before.calls_sent, 1U);
  EXPECT_EQ(now.calls_executed, before.calls_executed);
  EXPECT_GT(now.bytes_sent, before.bytes_sent);
  EXPECT_GT(now.bytes_received, before.bytes_received);
  const offload::peer_statistics there = offload::sync(1, fn<&stats_with_node>, 0);
  EXPECT_GE(there.calls_executed, now.calls_sent);
  EXPECT_THROW(static_cast<void>(offload::stats_with(99)), call_error);
}

TEST(durations_of_calls, have_quantiles) {
  EXPECT_LT(quantile({}, 0.5), 0);
  const durations took{{1e-6, 98}, {1e-3, 1}, {1, 1}};
  EXPECT_EQ(quantile(took, 0), 1e-6);
  EXPECT_EQ(quantile(took, 0.5), 1e-6);
  EXPECT_EQ(quantile(took, 0.98), 1e-6);
  EXPECT_EQ(quantile(took, 0.99), 1e-3);
  EXPECT_EQ(quantile(took, 1), 1);
  EXPECT_EQ(quantile(took, 7), 1);
}

TEST(durations_of_calls, are_those_between_two_readings) {
  const durations before{{1e-6, 5}, {1e-3, 2}};
  const durations now{{1.0001e-6, 7}, {1e-4, 1}, {0.9999e-3, 2}, {1, 4}};
  const durations between = added(before, now);
  ASSERT_EQ(between.size(), 3U);
  EXPECT_EQ(between[0].calls, 2U);
  EXPECT_EQ(between[1].calls, 1U);
  EXPECT_EQ(between[2].calls, 4U);
  EXPECT_EQ(between[2].max_s, 1);
  EXPECT_TRUE(added(now, now).empty());
  EXPECT_EQ(added({}, now).size(), 4U);
}

TEST(activities_of_nodes, have_names) {
  EXPECT_STREQ(to_string(activity::busy), "busy");
  EXPECT_STREQ(to_string(activity::spinning), "spinning");
  EXPECT_STREQ(to_string(activity::asleep), "asleep");
  EXPECT_STREQ(to_string(activity::away), "away");
  EXPECT_STREQ(to_string(activity::unknown), "unknown");
  EXPECT_STREQ(to_string(activity::gone), "gone");
}

}  // namespace counters_test
