// Metrics as Prometheus reads them.
#include "runtime/metrics_text.hpp"

#include <gtest/gtest.h>

#include "runtime/prometheus_text.hpp"

namespace ham::inline v1::detail {
namespace {

using test::prometheus_text;

job_counters made_job() {
  node_counters host;
  host.node = host.number = 0;
  host.pid = 10;
  host.machine = "here";
  host.transport = "self";
  host.seen_by_host = false;
  host.now = node_counters::activity::asleep;
  host.all = {11, 12, 13, 14, 15};
  host.executing = 1;
  host.queued = 16;
  host.sleeps = 17;
  host.rss_bytes = (std::uint64_t{1} << 53) + 2;
  host.executed = 6;
  host.executed_s = 2.5;
  host.took = {{0.5e-7, 1}, {2e-6, 2}, {0.5, 2}, {1e6, 1}};
  node_counters far;
  far.node = 4;
  far.number = 1;
  far.all = {21, 22, 23, 24, 25};
  far.restarts = 3;
  node_counters gone;
  gone.node = gone.number = 2;
  gone.now = node_counters::activity::gone;
  return {10, 1, "a\"b\\c", 0, {host, far, gone}};
}

double value(const prometheus_text& in, const std::string& name, const std::string& node,
             std::map<std::string, std::string> labels = {}) {
  labels["node"] = node;
  const auto found = in.find(name, labels);
  EXPECT_EQ(found.size(), 1U) << name;
  return found.empty() ? -1 : found[0].value;
}

/// Prometheus takes none of two samples that differ by nothing but their values.
TEST(metrics_text, tells_the_jobs_of_a_process_apart) {
  job_counters second = made_job();
  second.serial = 7;
  const prometheus_text read(metrics_text({made_job(), second}));
  EXPECT_EQ(read.find("ham_calls_sent_total", {{"node", "0"}, {"job_serial", "1"}}).size(), 1U);
  EXPECT_EQ(read.find("ham_calls_sent_total", {{"node", "0"}, {"job_serial", "7"}}).size(), 1U);
}

TEST(metrics_text, has_what_nodes_have_counted) {
  const prometheus_text read(metrics_text({made_job()}));
  EXPECT_EQ(value(read, "ham_calls_sent_total", "0"), 11);
  EXPECT_EQ(value(read, "ham_calls_received_total", "0"), 12);
  EXPECT_EQ(value(read, "ham_bytes_sent_total", "0"), 13);
  EXPECT_EQ(value(read, "ham_bytes_received_total", "0"), 14);
  EXPECT_EQ(value(read, "ham_outbox_messages", "0"), 15);
  EXPECT_EQ(value(read, "ham_queued_calls", "0"), 16);
  EXPECT_EQ(value(read, "ham_sleeps_total", "0"), 17);
  EXPECT_EQ(value(read, "ham_executing_threads", "0"), 1);
  EXPECT_EQ(value(read, "ham_resident_memory_bytes", "0"), 9007199254740994.0) << "to the byte";
  EXPECT_EQ(value(read, "ham_calls_sent_total", "1", {{"process", "4"}}), 21);
  EXPECT_EQ(value(read, "ham_restarts_total", "1"), 3);
  EXPECT_EQ(read.types.at("ham_calls_sent_total"), "counter");
  EXPECT_EQ(read.types.at("ham_queued_calls"), "gauge");
  EXPECT_EQ(read.samples.at(0).labels.at("program"), "a\"b\\c");
  EXPECT_EQ(read.samples.at(0).labels.at("job_pid"), "10");
}

TEST(metrics_text, has_devices_where_there_are_some) {
  job_counters job = made_job();
  EXPECT_TRUE(prometheus_text(metrics_text({job})).find("ham_device_calls_total", {}).empty());
  job.nodes[0].device = {true, true, 31, 32};
  const prometheus_text read(metrics_text({job}));
  EXPECT_EQ(value(read, "ham_device_calls_total", "0"), 31);
  EXPECT_EQ(value(read, "ham_device_launches_total", "0"), 32);
  EXPECT_EQ(value(read, "ham_device_resident", "0"), 1);
  EXPECT_TRUE(read.find("ham_device_resident", {{"node", "1"}}).empty());
}

TEST(metrics_text, leaves_out_what_the_host_does_not_know) {
  const prometheus_text read(metrics_text({made_job()}));
  for (const char* const name : {"ham_queued_calls", "ham_resident_memory_bytes", "ham_node_state",
                                 "ham_execution_seconds_count", "ham_sleeps_total"})
    EXPECT_TRUE(read.find(name, {{"node", "1"}}).empty()) << name;
  EXPECT_TRUE(read.find("ham_calls_sent_total", {{"node", "2"}}).empty()) << "it has gone";
}

TEST(metrics_text, sorts_durations_into_fixed_buckets) {
  const prometheus_text read(metrics_text({made_job()}));
  const auto below = [&](const char* le) { return value(read, "ham_execution_seconds_bucket", "0", {{"le", le}}); };
  EXPECT_EQ(below("1e-07"), 1);
  EXPECT_EQ(below("1e-06"), 1);
  EXPECT_EQ(below("3e-06"), 3);
  EXPECT_EQ(below("0.3"), 3);
  EXPECT_EQ(below("1"), 5);
  EXPECT_EQ(below("100"), 5);
  EXPECT_EQ(below("+Inf"), 6);
  EXPECT_EQ(value(read, "ham_execution_seconds_sum", "0"), 2.5);
  EXPECT_EQ(value(read, "ham_execution_seconds_count", "0"), 6);
}

TEST(metrics_text, says_what_each_node_does) {
  const prometheus_text read(metrics_text({made_job()}));
  for (const char* const state : {"busy", "spinning", "away"})
    EXPECT_EQ(value(read, "ham_node_state", "0", {{"state", state}}), 0) << state;
  EXPECT_EQ(value(read, "ham_node_state", "0", {{"state", "asleep"}}), 1);
}

TEST(metrics_text, of_no_jobs_is_a_text_all_the_same) {
  EXPECT_TRUE(prometheus_text(metrics_text({})).samples.empty());
}

/// The parser itself: what no scraper takes, it does not.
TEST(metrics_text, is_held_against_a_parser_that_refuses) {
  const std::string head = "# HELP a b\n# TYPE a counter\n";
  EXPECT_EQ(prometheus_text(head + "a{x=\"1\"} 2\na{x=\"2\"} 3e-7\n").samples.size(), 2U);
  for (const char* const line :
       {"a{x=\"1\"} 2", "a{x=\"1} 2\n", "a{x=1} 2\n", "a{x=\"\\t\"} 2\n", "a 2 \n", "a  2\n", "a{x=\"1\",x=\"2\"} 2\n",
        "b 2\n", "a -1\n", "a x\n", "a 1\na 1\n", "1a 2\n", "\n", "# TYPE a gauge\n"})
    EXPECT_THROW(prometheus_text(head + line), std::runtime_error) << line;
  const std::string times = "# TYPE t histogram\n";
  EXPECT_THROW(prometheus_text(times + "t_bucket{le=\"1\"} 2\nt_sum 1\nt_count 2\n"), std::runtime_error);
  EXPECT_THROW(prometheus_text(times + "t_bucket{le=\"1\"} 2\nt_bucket{le=\"+Inf\"} 1\nt_sum 1\nt_count 1\n"),
               std::runtime_error);
}

}  // namespace
}  // namespace ham::detail
