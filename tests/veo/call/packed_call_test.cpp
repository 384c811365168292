// How arguments lie in a message: which go, which come back, and where they are aligned.
#include "veo/call/packed_call.hpp"

#include <gtest/gtest.h>

#include "ve_offload.h"
#include "veo_ham.h"

namespace ham::inline v1::veo {
namespace {

TEST(packed_call, buffers_go_in_come_back_or_both) {
  using kind = argument_kind;
  for (const kind one : {kind::integer, kind::real, kind::single, kind::hmem}) {
    EXPECT_FALSE(is_stack(one) || goes_in(one) || comes_back(one)) << static_cast<int>(one);
  }
  EXPECT_TRUE(is_stack(kind::stack_in) && goes_in(kind::stack_in) && !comes_back(kind::stack_in));
  EXPECT_TRUE(is_stack(kind::stack_inout) && goes_in(kind::stack_inout) && comes_back(kind::stack_inout));
  EXPECT_TRUE(is_stack(kind::stack_out) && !goes_in(kind::stack_out) && comes_back(kind::stack_out));
  EXPECT_TRUE(is_floating(kind::real) && is_floating(kind::single));
  EXPECT_FALSE(is_floating(kind::integer) || is_floating(kind::hmem) || is_floating(kind::stack_in));
}

TEST(packed_call, contents_are_padded_to_words) {
  EXPECT_EQ(padded(0), 0U);
  EXPECT_EQ(padded(1), 8U);
  EXPECT_EQ(padded(8), 8U);
  EXPECT_EQ(padded(9), 16U);
}

TEST(packed_call, results_have_the_numbers_of_the_interface) {
  const std::pair<result_kind, veo_ham_result> all[] = {
      {result_kind::bits, VEO_HAM_RESULT_BITS},   {result_kind::i32, VEO_HAM_RESULT_I32},
      {result_kind::i16, VEO_HAM_RESULT_I16},     {result_kind::i8, VEO_HAM_RESULT_I8},
      {result_kind::u32, VEO_HAM_RESULT_U32},     {result_kind::u16, VEO_HAM_RESULT_U16},
      {result_kind::u8, VEO_HAM_RESULT_U8},       {result_kind::real, VEO_HAM_RESULT_DOUBLE},
      {result_kind::single, VEO_HAM_RESULT_FLOAT}};
  for (const auto& [kind, number] : all) EXPECT_EQ(static_cast<int>(kind), static_cast<int>(number));
  EXPECT_GT(static_cast<int>(result_kind::as_typed), static_cast<int>(VEO_HAM_RESULT_FLOAT)) << "no client says it";
  EXPECT_EQ(call_head().result, result_kind::as_typed);
}

}  // namespace
}  // namespace ham::veo
