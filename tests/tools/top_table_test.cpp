// The table of ham-top.
#include "../../tools/top/table.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ham::inline v1::top {
namespace {

TEST(top_table, shortens_numbers_to_three_digits) {
  EXPECT_EQ(short_number(-1), "-");
  EXPECT_EQ(short_number(0), "0");
  EXPECT_EQ(short_number(0.25), "0.25");
  EXPECT_EQ(short_number(1), "1.00");
  EXPECT_EQ(short_number(12.34), "12.3");
  EXPECT_EQ(short_number(999.4), "999");
  EXPECT_EQ(short_number(999.7), "1.00 k");
  EXPECT_EQ(short_number(123'456), "123 k");
  EXPECT_EQ(short_number(3.5e15), "3500 T");
}

TEST(top_table, shortens_times) {
  EXPECT_EQ(short_time(-1), "-");
  EXPECT_EQ(short_time(2.5e-9), "2.50 ns");
  EXPECT_EQ(short_time(850e-9), "850 ns");
  EXPECT_EQ(short_time(1.25e-3), "1.25 ms");
  EXPECT_EQ(short_time(90), "90.0 s");
}

TEST(top_table, has_a_line_for_each_node) {
  shown_node host;
  host.counters.node = host.counters.number = 0;
  host.counters.pid = 4711;
  host.counters.machine = "alpha";
  host.counters.transport = "self";
  host.counters.seen_by_host = false;
  host.counters.now = node_counters::activity::spinning;
  host.counters.queued = 2;
  host.counters.rss_bytes = 12'300'000;
  host.calls_in_s = 0;
  host.calls_out_s = 123'456;
  host.bytes_in_s = 2.5e6;
  host.bytes_out_s = 1;
  host.p50_s = 2e-7;
  host.p99_s = 1.5e-6;
  shown_node far;
  far.counters.node = 7;
  far.counters.number = 1;
  far.counters.machine = "beta";
  far.counters.transport = "tcp";
  far.counters.restarts = 2;
  far.counters.all.waiting = 3;
  const std::vector<std::string> expected{"job 4711  app  2 nodes",
                                          " NODE       PID  STATE         IN/s     OUT/s       P50       P99   QUEUE  "
                                          "OUTBOX    B/s IN   B/s OUT       RSS  RESTARTS  BY        MACHINE",
                                          "    0      4711  spinning         0     123 k    200 ns   1.50 us       2   "
                                          "    0   2.50 MB     1.00B   12.3 MB         0  self      alpha",
                                          "   1*         -  unknown          -         -         -         -       -   "
                                          "    3         -         -         -         2  tcp       beta",
                                          "* as its host sees it: what the two have exchanged"};
  EXPECT_EQ(table_lines({{4711, "app", 1, {host, far}}}), expected);
}

TEST(top_table, shows_devices_where_there_are_some) {
  shown_node host;
  host.counters.machine = "alpha";
  shown_node gpu = host;
  gpu.counters.device = {true, true, 5000, 2};
  gpu.device_calls_s = 1234;
  shown_node idle = host;
  idle.counters.device = {true, false, 1, 1};
  const auto lines = table_lines({{1, "a", 1, {host, gpu, idle}}});
  ASSERT_GE(lines.size(), 5U);
  const std::size_t at = lines[1].find("DEVICE");
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(lines[2].substr(at), "-");
  EXPECT_EQ(lines[3].substr(at), "resident, 1.23 k calls/s, 2 launches");
  EXPECT_EQ(lines[4].substr(at), "idle, - calls/s, 1 launch");
  const auto without = table_lines({{1, "a", 1, {host}}});
  EXPECT_EQ(without[1].find("DEVICE"), std::string::npos);
}

TEST(top_table, keeps_jobs_apart) {
  shown_node one;
  one.counters.seen_by_host = false;
  const auto lines = table_lines({{1, "a", 1, {one}}, {-1, "b", 1, {one}}});
  ASSERT_EQ(lines.size(), 7U);
  EXPECT_EQ(lines[0], "job 1  a  1 node");
  EXPECT_EQ(lines[3], "");
  EXPECT_EQ(lines[4], "job of a host elsewhere  b  1 node");
  EXPECT_TRUE(table_lines({}).empty());
}

}  // namespace
}  // namespace ham::top
