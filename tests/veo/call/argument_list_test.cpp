// Lists of arguments: their setters, and their way to a callee and back.
#include "veo/call/argument_list.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "ve_offload.h"
#include "veo/call/kernel_arguments.hpp"

namespace ham::inline v1::veo {
namespace {

TEST(argument_list, a_gap_makes_it_incomplete) {
  argument_list list;
  EXPECT_TRUE(is_complete(&list));
  EXPECT_TRUE(is_complete(nullptr));
  EXPECT_EQ(list.set_bits(1, 5), 0);
  EXPECT_FALSE(is_complete(&list));
  EXPECT_EQ(list.set_signed(0, -1), 0);
  EXPECT_TRUE(is_complete(&list));
  list.clear();
  EXPECT_TRUE(list.all.empty());
}

TEST(argument_list, setters_refuse_what_is_none) {
  argument_list list;
  char buffer[8];
  EXPECT_EQ(list.set_bits(-1, 0), -1);
  EXPECT_EQ(list.set_bits(static_cast<int>(max_arguments), 0), -1);
  EXPECT_EQ(list.set_buffer(0, 3, buffer, sizeof buffer), -1);
  EXPECT_EQ(list.set_buffer(0, VEO_INTENT_IN, nullptr, 1), -1);
  EXPECT_EQ(list.set_buffer(0, VEO_INTENT_IN, buffer, SIZE_MAX), -1);
  EXPECT_TRUE(list.all.empty());
  EXPECT_EQ(list.set_buffer(0, VEO_INTENT_IN, nullptr, 0), 0);
}

TEST(argument_list, buffers_travel_by_intent) {
  argument_list list;
  std::string in = "in", both = "inout", out = "....";
  ASSERT_EQ(list.set_buffer(0, VEO_INTENT_IN, in.data(), in.size()), 0);
  ASSERT_EQ(list.set_buffer(1, VEO_INTENT_INOUT, both.data(), both.size()), 0);
  ASSERT_EQ(list.set_buffer(2, VEO_INTENT_OUT, out.data(), out.size()), 0);
  std::vector<std::byte> message;
  pack(&list, message);
  kernel_arguments there(message, 4096);
  const auto text = [&](std::size_t i) { return *static_cast<char**>(there.places()[i]); };
  EXPECT_STREQ(text(0), "in");
  EXPECT_STREQ(text(1), "inout");
  EXPECT_EQ(text(2)[0], '\0');
  std::memcpy(text(0), "xx", 2);
  std::memcpy(text(1), "INOUT", 5);
  std::memcpy(text(2), "OUT!", 4);
  const std::vector<delivery> to = deliveries_of(&list);
  EXPECT_EQ(to.size(), 2U);
  deliver(to, there.returned());
  EXPECT_EQ(in + both + out, "inINOUTOUT!");
  both = "inout";
  deliver(to, {});  // cut off: nothing is written
  EXPECT_EQ(both, "inout");
}

}  // namespace
}  // namespace ham::veo
