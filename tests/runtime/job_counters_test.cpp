// Which nodes make a job, and by whose counters they are shown.
#include "runtime/job_counters.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ham::inline v1::detail {
namespace {

using activity = node_counters::activity;
using base::counter_reading;
using row_state = base::counter_row::state;

counter_reading::peer row(std::int32_t node, std::int64_t pid, row_state now = row_state::met) {
  counter_reading::peer made;
  made.node = made.number = node;
  made.pid = pid;
  made.now = now;
  made.machine = "here";
  made.transport = node == 0 ? "self" : "shm";
  return made;
}

found_counters found(std::int32_t node, std::int64_t pid, std::uint64_t serial,
                     std::vector<counter_reading::peer> peers) {
  found_counters made;
  made.read.node = node;
  made.read.pid = pid;
  made.read.serial = serial;
  made.read.program = "app";
  made.read.tick_ns = 0.5;
  made.read.peers = std::move(peers);
  return made;
}

TEST(job_counters, have_the_nodes_that_their_host_has_met) {
  found_counters target = found(1, 11, 1, {row(0, 10), row(1, 11)});
  target.rss_bytes = 4096;
  target.read.executing = 1;
  target.read.all.calls_received = 5;
  target.read.in_pool = 2;
  target.read.device = base::counter_head::device_state::resident;
  target.read.device_calls = 6;
  target.read.device_launches = 1;
  target.read.executed = 4;
  target.read.took[10] = 3;
  target.read.ticks = 2'000'000'000;
  const auto jobs = jobs_of({target, found(0, 10, 1, {row(0, 10), row(1, 11), row(2, 0, row_state::expected)})}, 7.5);
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_EQ(jobs[0].pid, 10);
  EXPECT_EQ(jobs[0].program, "app");
  EXPECT_EQ(jobs[0].read_at_s, 7.5);
  ASSERT_EQ(jobs[0].nodes.size(), 2U) << "node 2 has not joined";
  const node_counters& one = jobs[0].nodes[1];
  EXPECT_FALSE(one.seen_by_host);
  EXPECT_EQ(one.now, activity::busy);
  EXPECT_EQ(one.all.calls_received, 5U);
  EXPECT_EQ(one.queued, 2U);
  EXPECT_TRUE(one.device.there && one.device.resident);
  EXPECT_EQ(one.device.calls, 6U);
  EXPECT_EQ(one.device.launches, 1U);
  EXPECT_FALSE(jobs[0].nodes[0].device.there);
  EXPECT_EQ(one.rss_bytes, 4096U);
  EXPECT_EQ(one.executed, 4U);
  EXPECT_DOUBLE_EQ(one.executed_s, 1.0);
  ASSERT_EQ(one.took.size(), 1U);
  EXPECT_EQ(one.took[0].calls, 3U);
  EXPECT_DOUBLE_EQ(one.took[0].max_s, static_cast<double>(base::time_buckets::end_of(10)) * 0.5e-9);
  EXPECT_EQ(one.peers.size(), 2U);
}

TEST(job_counters, show_nodes_elsewhere_as_their_host_sees_them) {
  counter_reading::peer far = row(1, 11);
  far.with = {10, 20, 1000, 2000, 3};
  far.machine = "there";
  far.number = 5;
  far.restarts = 2;
  const auto jobs = jobs_of({found(0, 10, 1, {row(0, 10), far})}, 0);
  ASSERT_EQ(jobs.size(), 1U);
  const node_counters& one = jobs[0].nodes.at(1);
  EXPECT_TRUE(one.seen_by_host);
  EXPECT_EQ(one.now, activity::unknown);
  EXPECT_EQ(one.all.calls_received, 10U) << "what the host has sent";
  EXPECT_EQ(one.all.calls_sent, 20U);
  EXPECT_EQ(one.all.bytes_received, 1000U);
  EXPECT_EQ(one.all.bytes_sent, 2000U);
  EXPECT_EQ(one.all.waiting, 3U);
  EXPECT_EQ(one.machine, "there");
  EXPECT_EQ(one.node, 1);
  EXPECT_EQ(one.number, 5);
  EXPECT_EQ(one.restarts, 2U);
}

TEST(job_counters, tell_nodes_that_were_lost) {
  const auto jobs = jobs_of({found(0, 10, 1, {row(0, 10), row(1, 11, row_state::lost)})}, 0);
  EXPECT_EQ(jobs.at(0).nodes.at(1).now, activity::gone);
}

TEST(job_counters, of_nodes_that_no_host_claims_are_by_themselves) {
  const auto jobs = jobs_of({found(1, 11, 1, {row(0, 10), row(1, 11)}), found(0, 20, 1, {row(0, 20), row(1, 11)})}, 0);
  ASSERT_EQ(jobs.size(), 2U) << "its host is process 10, not 20";
  EXPECT_EQ(jobs[0].pid, 20);
  EXPECT_TRUE(jobs[0].nodes.at(1).seen_by_host);
  EXPECT_EQ(jobs[1].pid, -1);
  EXPECT_EQ(jobs[1].nodes.at(0).node, 1);
}

/// All of them are threads of one process.
TEST(job_counters, of_one_process_are_told_apart_by_who_was_made_first) {
  const std::vector<counter_reading::peer> rows{row(0, 10), row(1, 10)};
  found_counters first = found(1, 10, 2, rows);
  first.read.all.calls_sent = 100;
  found_counters second = found(1, 10, 6, rows);
  second.read.all.calls_sent = 200;
  const auto jobs = jobs_of({second, found(0, 10, 5, rows), found(0, 10, 1, rows), first}, 0);
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_EQ(jobs[0].serial, 5U);
  EXPECT_EQ(jobs[0].nodes.at(1).all.calls_sent, 200U);
  EXPECT_EQ(jobs[1].serial, 1U);
  EXPECT_EQ(jobs[1].nodes.at(1).all.calls_sent, 100U);
}

TEST(job_counters, tell_what_a_node_does) {
  const auto of = [](auto change) {
    found_counters host = found(0, 10, 1, {row(0, 10)});
    change(host.read);
    return jobs_of({host}, 0).at(0).nodes.at(0).now;
  };
  EXPECT_EQ(of([](counter_reading&) {}), activity::away);
  EXPECT_EQ(of([](counter_reading& one) { one.asleep = true; }), activity::asleep);
  EXPECT_EQ(of([](counter_reading& one) { one.polled_ago_ns = 1'000'000; }), activity::spinning);
  EXPECT_EQ(of([](counter_reading& one) { one.polled_ago_ns = 1'000'000'000; }), activity::away);
  EXPECT_EQ(of([](counter_reading& one) {
              one.asleep = true;
              one.executing = 1;
            }),
            activity::busy);
}

}  // namespace
}  // namespace ham::detail
