// What the measuring applications share: quartiles, reports, threads beside targets.
#include "common/report.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/cores.hpp"
#include "common/quartiles.hpp"
#include "common/thread_team.hpp"

namespace {

TEST(application_quartiles, are_those_of_the_values_in_any_order) {
  const app::quartiles found = app::quartiles_of({5.0, 1.0, 3.0, 2.0, 4.0});
  EXPECT_EQ(found.low, 2.0);
  EXPECT_EQ(found.median, 3.0);
  EXPECT_EQ(found.high, 4.0);
  EXPECT_EQ(app::quartiles_of({7.0}).high, 7.0);
  EXPECT_THROW((void)app::quartiles_of({}), std::invalid_argument);
  EXPECT_EQ(app::quartile_columns("rate", "GB/s").size(), app::cells_of(found, 1).size());
}

ham::bench::report sample() {
  ham::bench::report report;
  report.name = "sample";
  report.tables.push_back({"A table", {"what", "time (us)"}, {{"first", {1.5, 1}}, {"second", {2.25, 2}}}});
  report.bars.push_back({"a bar", 3.0, ham::bench::bar::direction::at_most, 2.0, "us"});
  report.remarks = {"a remark"};
  return report;
}

TEST(application_report, text_has_tables_and_missed_bars) {
  std::ostringstream out;
  app::print(out, sample(), app::format::text);
  EXPECT_NE(out.str().find("second       2.25"), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("MISSED"), std::string::npos);
  EXPECT_NE(out.str().find("a remark"), std::string::npos);
}

TEST(application_report, json_is_one_object) {
  if (!ham::bench::json_available()) GTEST_SKIP() << "built without nlohmann-json";
  std::ostringstream out;
  app::print(out, sample(), app::format::json);
  const std::string text = out.str();
  EXPECT_EQ(text.rfind("{\n  \"name\": \"sample\"", 0), 0u) << text;
  EXPECT_NE(text.find("\"time (us)\": 2.25"), std::string::npos) << text;
  EXPECT_NE(text.find("\"met\": false"), std::string::npos) << text;
}

TEST(application_thread_team, all_threads_work_each_time_and_errors_arrive) {
  app::thread_team team({-1, -1, -1});
  EXPECT_EQ(team.size(), 3u);
  std::vector<int> turns(3);
  for (int turn = 0; turn < 50; ++turn) team.run([&](std::size_t index) { ++turns[index]; });
  EXPECT_EQ(turns, std::vector<int>(3, 50));
  EXPECT_THROW(team.run([](std::size_t index) {
    if (index == 1) throw std::runtime_error("one of them");
  }),
               std::runtime_error);
  team.run([&](std::size_t index) { ++turns[index]; });
  EXPECT_EQ(turns, std::vector<int>(3, 51));
}

TEST(application_cores, a_target_for_each_core) {
  const std::string nodes = app::target_per_core();
  EXPECT_EQ(nodes.rfind("shm:", 0), 0u);
  const auto cores = app::usable_cores();
  ASSERT_FALSE(cores.empty());
  EXPECT_EQ(nodes.substr(4, nodes.find('@') - 4), std::to_string(cores.size()));
}

}  // namespace
