// Tests of the reports of ham-bench, as text and as JSON.
#include "../../tools/bench/report.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace ham::bench;

const conditions where{"machine", "shm", 2, 0, 1, "same L3", 3};

report example() {
  report result{"example", {}, {}, {}};
  table one{"of something", {"what"}, {}};
  add_median_columns(one.columns, "", "us");
  add_median_columns(one.columns, "put", "ns");
  one.columns.emplace_back("quartiles");
  std::vector<cell> row{"first"};
  const comparison found = compare({2000, 4000, 3000}, {1000, 1000, 1000});
  add_median(row, found, 1e3, 2);
  add_median(row, std::vector<double>{10, 30, 20}, 1, 0);
  row.push_back(quartiles_of_ratio(found));
  one.columns.emplace_back("not measured");
  row.push_back(no_number());
  one.rows.push_back(row);
  result.tables.push_back(one);
  result.bars.push_back({"is small", 2, bar::direction::at_most, 1, "us"});
  return result;
}

TEST(report, medians_and_quartiles_are_columns_of_their_own) {
  const report found = example();
  EXPECT_EQ(found.tables[0].columns,
            (std::vector<std::string>{"what", "us", "quartile 1 us", "quartile 3 us", "put ns", "quartile 1 put ns",
                                      "quartile 3 put ns", "quartiles", "not measured"}));
  std::ostringstream text;
  print(text, found);
  EXPECT_EQ(text.str().find("quartile "), std::string::npos) << text.str();
  EXPECT_NE(text.str().find("  q1"), std::string::npos) << text.str();
  EXPECT_NE(text.str().find(" 3.00"), std::string::npos) << text.str();
  EXPECT_NE(text.str().find(" 2.50"), std::string::npos) << text.str();
  EXPECT_NE(text.str().find(" 3.50"), std::string::npos) << text.str();
  EXPECT_NE(text.str().find("2.50..3.50"), std::string::npos) << text.str();
  EXPECT_NE(text.str().find("MISSED"), std::string::npos) << text.str();
  EXPECT_FALSE(found.all_met());
}

TEST(report, the_framework_part_has_a_spread) {
  const table found = framework_part({{"shm", compare({120, 150, 130}, {100, 100, 100})}});
  std::ostringstream text;
  print(text, report{"part", {found}, {}, {}});
  EXPECT_NE(text.str().find(" 30.0  25.0  40.0 "), std::string::npos) << text.str();
  EXPECT_NE(text.str().find("25.0..40.0"), std::string::npos) << text.str();
}

TEST(report, conditions_name_the_kind_of_core_pair) {
  std::ostringstream text;
  print(text, where);
  EXPECT_NE(text.str().find("host on core 0, target on core 1 (same L3)"), std::string::npos) << text.str();
}

TEST(report, numbers_are_numbers_in_json) {
  std::ostringstream text;
  if (!json_available()) GTEST_SKIP() << "built without nlohmann-json";
  print_json(text, where, {example()});
  std::string packed;
  for (const char one : text.str()) {
    if (one != ' ' && one != '\n') packed += one;
  }
  EXPECT_NE(packed.find("\"core_pair\":\"sameL3\""), std::string::npos) << packed;
  EXPECT_NE(packed.find("\"us\":3.0,\"quartile1us\":2.5,\"quartile3us\":3.5"), std::string::npos) << packed;
  EXPECT_NE(packed.find("\"putns\":20,"), std::string::npos) << packed;
  EXPECT_NE(packed.find("\"quartiles\":[2.5,3.5]"), std::string::npos) << packed;
  EXPECT_NE(packed.find("\"notmeasured\":null"), std::string::npos) << packed;
  EXPECT_NE(packed.find("\"met\":false"), std::string::npos) << packed;
}

TEST(report, columns_of_one_name_are_refused) {
  if (!json_available()) GTEST_SKIP() << "built without nlohmann-json";
  report twice{"twice", {{"a table", {"size", "part", "part"}, {{"1 B", {1, 0}, {2, 0}}}}}, {}, {}};
  std::ostringstream text;
  EXPECT_THROW(print_json(text, where, {twice}), std::logic_error);
}

}  // namespace
