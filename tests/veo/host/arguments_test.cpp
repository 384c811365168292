// The setters of the API: what they make of values, and what they refuse.
#include "veo/host/arguments.hpp"

#include <errno.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <memory>

#include "ve_offload.h"
#include "veo_ham.h"

namespace ham::inline v1::veo {
namespace {

struct freed {
  void operator()(veo_args* list) const { veo_args_free(list); }
};

class api_arguments : public testing::Test {
 protected:
  [[nodiscard]] const argument& at(std::size_t index) const { return list->all.at(index); }
  std::unique_ptr<veo_args, freed> list{veo_args_alloc()};
};

TEST_F(api_arguments, integers_are_extended_as_their_type_says) {
  EXPECT_EQ(veo_args_set_i64(list.get(), 0, INT64_MIN), 0);
  EXPECT_EQ(veo_args_set_i32(list.get(), 1, -1), 0);
  EXPECT_EQ(veo_args_set_i16(list.get(), 2, -2), 0);
  EXPECT_EQ(veo_args_set_i8(list.get(), 3, -3), 0);
  EXPECT_EQ(veo_args_set_u64(list.get(), 4, UINT64_MAX), 0);
  EXPECT_EQ(veo_args_set_u32(list.get(), 5, UINT32_MAX), 0);
  EXPECT_EQ(veo_args_set_u16(list.get(), 6, UINT16_MAX), 0);
  EXPECT_EQ(veo_args_set_u8(list.get(), 7, UINT8_MAX), 0);
  const std::uint64_t expected[] = {std::uint64_t{1} << 63,
                                    ~std::uint64_t{0},
                                    ~std::uint64_t{1},
                                    ~std::uint64_t{2},
                                    UINT64_MAX,
                                    UINT32_MAX,
                                    UINT16_MAX,
                                    UINT8_MAX};
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(at(i).bits, expected[i]) << i;
    EXPECT_EQ(at(i).kind, argument_kind::integer) << i;
  }
}

TEST_F(api_arguments, others_have_their_kind) {
  char buffer[8];
  EXPECT_EQ(veo_args_set_double(list.get(), 0, 1.5), 0);
  EXPECT_EQ(veo_args_set_float(list.get(), 1, 2.5F), 0);
  EXPECT_EQ(veo_args_set_hmem(list.get(), 2, buffer), 0);
  EXPECT_EQ(veo_args_set_stack(list.get(), VEO_INTENT_IN, 3, buffer, 8), 0);
  EXPECT_EQ(veo_args_set_stack(list.get(), VEO_INTENT_INOUT, 4, buffer, 8), 0);
  EXPECT_EQ(veo_args_set_stack(list.get(), VEO_INTENT_OUT, 5, buffer, 8), 0);
  const argument_kind expected[] = {argument_kind::real,     argument_kind::single,      argument_kind::hmem,
                                    argument_kind::stack_in, argument_kind::stack_inout, argument_kind::stack_out};
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(at(i).kind, expected[i]) << i;
  EXPECT_EQ(std::bit_cast<double>(at(0).bits), 1.5);
  EXPECT_EQ(std::bit_cast<float>(static_cast<std::uint32_t>(at(1).bits)), 2.5F);
  EXPECT_EQ(at(3).buffer, buffer);
  EXPECT_EQ(at(3).bits, 8U);
}

template <class Call>
void expect_refused(Call call) {
  errno = 0;
  EXPECT_EQ(call(), -1);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(api_arguments, without_a_list_or_with_an_impossible_place_are_refused) {
  char buffer[8];
  expect_refused([] { return veo_args_set_i64(nullptr, 0, 1); });
  expect_refused([] { return veo_args_set_double(nullptr, 0, 1); });
  expect_refused([&] { return veo_args_set_stack(nullptr, VEO_INTENT_IN, 0, buffer, 8); });
  for (const int place : {-1, INT32_MIN, INT32_MAX, static_cast<int>(max_arguments)}) {
    expect_refused([&] { return veo_args_set_u8(list.get(), place, 1); });
    expect_refused([&] { return veo_args_set_float(list.get(), place, 1); });
  }
  EXPECT_TRUE(list->all.empty()) << "and change nothing";
  EXPECT_EQ(veo_args_set_u8(list.get(), static_cast<int>(max_arguments) - 1, 1), 0);
  expect_refused([&] { return veo_args_set_stack(list.get(), static_cast<veo_args_intent>(3), 0, buffer, 8); });
}

TEST_F(api_arguments, a_result_is_said_and_cleared) {
  EXPECT_EQ(list->result, result_kind::as_typed);
  EXPECT_EQ(veo_ham_args_set_result(list.get(), VEO_HAM_RESULT_DOUBLE), 0);
  EXPECT_EQ(list->result, result_kind::real);
  expect_refused([&] { return veo_ham_args_set_result(list.get(), static_cast<veo_ham_result>(9)); });
  expect_refused([] { return veo_ham_args_set_result(nullptr, VEO_HAM_RESULT_BITS); });
  EXPECT_EQ(list->result, result_kind::real);
  veo_args_set_i64(list.get(), 0, 1);
  veo_args_clear(list.get());
  EXPECT_TRUE(list->all.empty());
  EXPECT_EQ(list->result, result_kind::as_typed);
  veo_args_clear(nullptr);
  veo_args_free(nullptr);
}

}  // namespace
}  // namespace ham::veo
