// ham-top --json.
#include "../../tools/top/json.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#if __has_include(<nlohmann/json.hpp>)
#include <nlohmann/json.hpp>
#endif

namespace ham::inline v1::top {
namespace {

std::vector<shown_job> one_job() {
  shown_node host;
  host.counters.node = host.counters.number = 0;
  host.counters.pid = 4711;
  host.counters.seen_by_host = false;
  host.counters.machine = "al\"pha";
  host.counters.now = node_counters::activity::busy;
  host.counters.queued = 2;
  host.counters.all.calls_sent = 5;
  host.counters.peers = {{1, {1, 2, 3, 4, 5}}};
  host.calls_in_s = 2.5;
  shown_node far;
  far.counters.number = 1;
  return {{4711, "app", 0.5, {host, far}}};
}

#if __has_include(<nlohmann/json.hpp>)

TEST(top_json, has_what_the_table_has_and_more) {
  const auto read = nlohmann::json::parse(json_text(one_job()));
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read[0]["pid"], 4711);
  EXPECT_EQ(read[0]["program"], "app");
  EXPECT_EQ(read[0]["interval_s"], 0.5);
  const auto& host = read[0]["nodes"][0];
  EXPECT_EQ(host["state"], "busy");
  EXPECT_EQ(host["machine"], "al\"pha");
  EXPECT_EQ(host["calls_in_per_s"], 2.5);
  EXPECT_TRUE(host["p99_s"].is_null()) << "there were no calls";
  EXPECT_EQ(host["queue"], 2);
  EXPECT_EQ(host["total"]["calls_sent"], 5);
  EXPECT_EQ(host["peers"][0]["node"], 1);
  EXPECT_EQ(host["peers"][0]["calls_received"], 2);
  const auto& far = read[0]["nodes"][1];
  EXPECT_EQ(far["seen_by_host"], true);
  for (const char* const name : {"pid", "queue", "rss_bytes", "executed", "calls_in_per_s"})
    EXPECT_TRUE(far[name].is_null()) << name;
}

TEST(top_json, of_nothing_is_a_list) { EXPECT_EQ(json_text({}), "[]"); }

#else

TEST(top_json, is_refused_without_its_library) { EXPECT_THROW(json_text(one_job()), std::runtime_error); }

#endif

}  // namespace
}  // namespace ham::top
