// Calls by types: prepared once, and a warning once per kernel where types are missing and would be needed.
#include "veo/helper/typed_call.hpp"

#include <gtest/gtest.h>

#include <bit>

#include "linked_kernels.hpp"
#include "veo/call/argument_list.hpp"

namespace ham::inline v1::veo {
namespace {

/// The result, and what was said on stderr.
std::pair<std::uint64_t, std::string> call_by_types(kernel_directory& in, std::uint64_t kernel,
                                                    const argument_list& list) {
  std::vector<std::byte> message;
  pack(&list, message);
  kernel_arguments arguments(message, 1 << 20);
  testing::internal::CaptureStderr();
  prepared_call& call = prepare_call(kernel, in, arguments);
  std::uint64_t result = 0;
  if (kernel >= 4096) {
    call.convert(arguments);
    result = call.run(arguments);
  }
  return {result, testing::internal::GetCapturedStderr()};
}

TEST(typed_call, arguments_go_where_the_types_say) {
  kernel_directory directory;
  argument_list list;
  list.set_single(0, 1.5F);  // the kernel takes a double
  list.set_signed(1, 4);
  const auto [result, said] = call_by_types(directory, test::address_of(&ham_test_scale), list);
  EXPECT_EQ(std::bit_cast<double>(result), 6.0);
  EXPECT_EQ(said, "");
}

TEST(typed_call, is_prepared_once_for_the_same_setters) {
  kernel_directory directory;
  argument_list list;
  list.set_real(0, 1.5);
  list.set_signed(1, 4);
  std::vector<std::byte> message;
  pack(&list, message);
  const kernel_arguments arguments(message, 1 << 20);
  const std::uint64_t kernel = test::address_of(&ham_test_scale);
  prepared_call& first = prepare_call(kernel, directory, arguments);
  EXPECT_EQ(&prepare_call(kernel, directory, arguments), &first);
  EXPECT_TRUE(first.fits(kernel, directory.generation(), arguments));
  list.clear();
  list.set_signed(0, 1);
  std::vector<std::byte> other_message;
  pack(&list, other_message);
  const kernel_arguments other(other_message, 1 << 20);
  EXPECT_TRUE(prepare_call(kernel, directory, other).fits(kernel, directory.generation(), other));
}

TEST(typed_call, warns_once_of_floating_point_arguments_without_types) {
  kernel_directory directory;
  argument_list list;
  list.set_real(0, 1.5);
  const std::string said = call_by_types(directory, 16, list).second;
  EXPECT_EQ(said.find("veo: the types of kernel without a name are not known: it is in no library. "), 0U) << said;
  EXPECT_NE(said.find("compile the kernel with -g"), std::string::npos);
  list.set_real(1, 1.5);  // prepared anew
  EXPECT_EQ(call_by_types(directory, 16, list).second, "");
  EXPECT_NE(call_by_types(directory, 32, list).second, "") << "another kernel";
}

TEST(typed_call, says_nothing_if_types_are_not_needed) {
  kernel_directory directory;
  argument_list integers;
  integers.set_signed(0, 1);
  EXPECT_EQ(call_by_types(directory, 16, integers).second, "");
  argument_list said_result;
  said_result.set_real(0, 1.5);
  said_result.result = result_kind::real;
  EXPECT_EQ(call_by_types(directory, 32, said_result).second, "");
}

}  // namespace
}  // namespace ham::veo
