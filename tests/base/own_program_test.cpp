// What this program is, and what targets of it are called.
#include "base/own_program.hpp"

#include <gtest/gtest.h>

using namespace ham::base;

TEST(own_program, is_started_by_the_kernels_name_for_it) { EXPECT_EQ(own_program(), own_program_link); }

TEST(own_program, comes_with_the_library) {
  EXPECT_TRUE(own_program_has_library());
  EXPECT_NO_THROW(expect_own_program_to_join());
}

TEST(own_program, has_a_name_without_a_folder) { EXPECT_EQ(own_program_name(), "ham_base_test"); }

TEST(target_name, is_cut_before_the_number) {
  EXPECT_EQ(target_name("app", 1), "app:ham1");
  EXPECT_EQ(target_name("a_long_application", 12), "a_long_application:ham12");
  EXPECT_EQ(target_name("a_long_application", 12, 15), "a_long_ap:ham12");
  EXPECT_EQ(target_name("app", 123456789, 15), "ap:ham123456789");
  EXPECT_EQ(target_name("app", 1234567890, 8), ":ham1234567890");
}
