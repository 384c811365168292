// What is counted, and how it is shown.
#include "veo/helper/profile.hpp"

#include <gtest/gtest.h>

namespace ham::inline v1::veo {
namespace {

TEST(profile, counts_calls_and_time_of_each_kernel) {
  profile counted;
  EXPECT_TRUE(counted.is_new(1));
  counted.add(1, 1'000, "quick");
  EXPECT_FALSE(counted.is_new(1));
  counted.add(1, 3'000);
  counted.add(2, 12'000'000, "slow");
  EXPECT_EQ(counted.table(),
            "     calls      total/s  share      mean/us       min/us       max/us  kernel\n"
            "         1     0.012000 100.0%    12000.000    12000.000    12000.000  slow\n"
            "         2     0.000004   0.0%        2.000        1.000        3.000  quick\n");
}

TEST(profile, one_name_is_one_line) {
  profile counted;  // the library was loaded again
  counted.add(1, 1'000, "same");
  counted.add(2, 5'000, "same");
  const std::string text = counted.table();
  EXPECT_NE(text.find("         2     0.000006 100.0%        3.000        1.000        5.000  same\n"), text.npos);
}

TEST(profile, a_table_of_nothing_is_its_head) {
  EXPECT_EQ(profile().table(), "     calls      total/s  share      mean/us       min/us       max/us  kernel\n");
}

TEST(profile, is_chosen_by_name) {
  for (const char* const name : {"aveorun-ftrace", "/usr/libexec/aveorun-ftrace_ve3", "./aveorun-ftrace_ve1"}) {
    EXPECT_TRUE(wants_profile(name)) << name;
  }
  for (const char* const name : {"", "/", "aveorun", "/tmp/aveorun-ftrace/aveorun", "aveorun_ve1", "ftrace"}) {
    EXPECT_FALSE(wants_profile(name)) << name;
  }
}

}  // namespace
}  // namespace ham::veo
