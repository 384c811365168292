// Reading of lists of cores.
#include "base/core_list.hpp"

#include <gtest/gtest.h>

#include "ham/error.hpp"

namespace ham::inline v1::base {
namespace {

TEST(parse_cores, lists_and_ranges) {
  EXPECT_EQ(parse_cores("0", ','), (std::vector<int>{0}));
  EXPECT_EQ(parse_cores("3,1-2,4095", ','), (std::vector<int>{3, 1, 2, 4095}));
  for (const char* text :
       {"", ",", "1,", ",1", "a", "1-", "-1", "2-1", "4096", "0-4096", "1+2", "1 ", "99999999999999999999"}) {
    EXPECT_THROW((void)parse_cores(text, ','), config_error) << text;
  }
}

}  // namespace
}  // namespace ham::base
