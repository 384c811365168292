// How nodes represent data, and what is said of the differences.
#include "ham/msg/data_layout.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ham::inline v1::msg {
namespace {

TEST(data_layout, describes_this_machine) {
  const data_layout local = data_layout::local();
  EXPECT_EQ(local.pointer_size, sizeof(void*));
  EXPECT_TRUE(local.same_structs(local));
  data_layout arm = local;
  arm.char_signed = local.char_signed == 0;
  EXPECT_NE(arm, local);
  EXPECT_TRUE(arm.same_structs(local));
  arm.long_double_digits ^= 1;
  EXPECT_FALSE(arm.same_structs(local));
  EXPECT_NE(local.describe().find("endian"), std::string::npos);
}

TEST(data_layout, of_another_node_is_told_by_what_differs) {
  const data_layout local = data_layout::local();
  EXPECT_EQ(local.describe_against(local), "other alignments") << "nobody asks unless something differs";
  data_layout other = local;
  other.pointer_size = 4;
  EXPECT_EQ(other.describe_against(local), "32-bit pointers");
  other.little_endian = local.little_endian == 0;
  EXPECT_FALSE(other.same_byte_order(local));
  EXPECT_EQ(other.describe_against(local),
            std::string(local.little_endian != 0 ? "big" : "little") + "-endian byte order, 32-bit pointers");
  data_layout aligned = local;
  aligned.double_alignment ^= 4;
  EXPECT_EQ(aligned.describe_against(local), "other alignments");
  EXPECT_FALSE(aligned.same_structs(local));
}

}  // namespace
}  // namespace ham::msg
