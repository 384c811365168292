// Counts of what was killed in groups that come and go; folders stand in for the groups.
#include "base/memory_kills.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

using ham::base::counter_in;
using ham::base::kills_of_groups;
namespace fs = std::filesystem;

class memory_kills : public testing::Test {
 protected:
  memory_kills() {
    std::string name = (fs::temp_directory_path() / "kills-XXXXXX").string();
    top_ = ::mkdtemp(name.data());
  }
  ~memory_kills() override { fs::remove_all(top_); }

  void set(const std::string& group, int kills) const {
    fs::create_directories(top_ / group);
    std::ofstream(top_ / group / "memory.oom_control") << "oom_kill_disable 0\nunder_oom 0\noom_kill " << kills << "\n";
  }
  void remove(const std::string& group) const { fs::remove_all(top_ / group); }
  /// What has come since this was last asked.
  std::uint64_t more() {
    const std::uint64_t before = last_;
    last_ = kills_.read(top_.string());
    return last_ - before;
  }

  fs::path top_;
  kills_of_groups kills_;
  std::uint64_t last_ = 0;
};

TEST(counters, of_control_groups_and_the_machine) {
  EXPECT_EQ(counter_in("low 0\nhigh 0\nmax 17\noom 2\noom_kill 3\noom_group_kill 0\n", "oom_kill"), 3U);
  EXPECT_EQ(counter_in("oom_kill_disable 0\nunder_oom 0\noom_kill 5\n", "oom_kill"), 5U);
  EXPECT_EQ(counter_in("", "oom_kill"), 0U);
  EXPECT_EQ(counter_in("oom_kill", "oom_kill"), 0U);
}

TEST_F(memory_kills, are_counted_in_the_group_and_below_it) {
  set("", 2);
  set("a", 1);
  set("a/b", 4);
  EXPECT_EQ(more(), 7U);
  EXPECT_EQ(more(), 0U);
  set("", 3);
  EXPECT_EQ(more(), 1U);
  set("a/b", 6);
  EXPECT_EQ(more(), 2U);
}

TEST_F(memory_kills, of_a_group_that_goes_hide_no_others) {
  set("", 0);
  set("a", 5);
  set("b", 0);
  more();
  remove("a");
  set("b", 1);
  EXPECT_EQ(more(), 1U);
  EXPECT_EQ(more(), 0U);
}

TEST_F(memory_kills, in_a_group_that_comes_count) {
  set("", 0);
  more();
  set("a", 0);
  EXPECT_EQ(more(), 0U);
  set("b", 1);
  EXPECT_EQ(more(), 1U);
  remove("b");
  set("b", 1);
  EXPECT_EQ(more(), 0U) << "nothing says that it is another one";
  remove("b");
  EXPECT_EQ(more(), 0U);
  set("b", 1);
  EXPECT_EQ(more(), 1U);
}

TEST_F(memory_kills, in_another_group_of_the_same_name_count) {
  set("", 0);
  set("a", 5);
  more();
  remove("a");
  set("a", 2);
  EXPECT_EQ(more(), 2U);
}

TEST_F(memory_kills, are_those_of_the_group_itself_where_there_are_too_many_below) {
  set("", 1);
  for (std::size_t i = 0; i < kills_of_groups::max_groups; ++i) set(std::to_string(i), 1);
  EXPECT_EQ(more(), 1U);
  set("7", 3);
  set("", 2);
  EXPECT_EQ(more(), 1U);
  remove("8");
  EXPECT_EQ(more(), 0U) << "those that are seen now were there before";
  set("7", 4);
  EXPECT_EQ(more(), 1U);
}

TEST_F(memory_kills, that_another_group_had_before_are_no_news) {
  set("here", 2);
  set("there", 5);
  EXPECT_EQ(kills_.read((top_ / "here").string()), 2U);
  EXPECT_EQ(kills_.read((top_ / "there").string()), 2U);
  set("there", 6);
  EXPECT_EQ(kills_.read((top_ / "there").string()), 3U);
}

TEST_F(memory_kills, are_none_where_nothing_counts) {
  EXPECT_EQ(more(), 0U);
  fs::create_directories(top_ / "a");
  EXPECT_EQ(more(), 0U);
}

}  // namespace
