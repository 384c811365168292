// Calls of functions of this program, by types that are known and by setters alone.
#include "veo/call/kernel_call.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <memory>
#include <vector>

#include "ham/error.hpp"
#include "veo/call/argument_list.hpp"

namespace ham::inline v1::veo {
namespace {

double scaled(double x, std::int32_t n, float f) { return x * n + f; }
std::uint64_t word_of_double(double x) { return std::bit_cast<std::uint64_t>(x); }
std::uint64_t same(std::uint64_t x) { return x; }
std::uint64_t address_of(const char* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

template <class Function>
std::uint64_t address(Function* function) {
  return reinterpret_cast<std::uintptr_t>(function);
}

std::shared_ptr<kernel_types> types(std::vector<slot_kind> parameters, result_kind result) {
  auto made = std::make_shared<kernel_types>();
  made->known = true;
  made->parameters = std::move(parameters);
  made->result = result;
  made->name = "tested";
  return made;
}

std::uint64_t call(std::uint64_t kernel, const std::shared_ptr<kernel_types>& with, const argument_list& list,
                   int identifier = 3) {
  std::vector<std::byte> message;
  pack(&list, message, identifier);
  kernel_arguments arguments(message, 1 << 20);
  prepared_call call;
  call.prepare(kernel, with, 0, arguments);
  EXPECT_TRUE(call.fits(kernel, 0, arguments));
  EXPECT_FALSE(call.fits(kernel, 1, arguments));
  call.convert(arguments);
  return call.run(arguments);
}

const std::uint64_t tagged_pointer = std::uint64_t{1} << 63 | std::uint64_t{3} << 59 | 4096;

TEST(kernel_call, puts_bits_of_integer_setters_where_the_types_say) {
  argument_list list;
  list.set_bits(0, std::bit_cast<std::uint64_t>(1.5));
  list.set_bits(1, 0xFFFFFFFF00000004);
  list.set_bits(2, std::uint64_t{std::bit_cast<std::uint32_t>(0.25F)} << 32U);
  const auto known = types({slot_kind::real, slot_kind::i32, slot_kind::single}, result_kind::real);
  EXPECT_EQ(std::bit_cast<double>(call(address(&scaled), known, list)), 6.25);
}

TEST(kernel_call, converts_floating_point_numbers_to_each_other_and_keeps_their_bits_otherwise) {
  argument_list list;
  list.set_single(0, 1.5F);
  EXPECT_EQ(call(address(&word_of_double), types({slot_kind::real}, result_kind::bits), list),
            std::bit_cast<std::uint64_t>(1.5));
  EXPECT_EQ(call(address(&same), types({slot_kind::word}, result_kind::bits), list),
            std::uint64_t{std::bit_cast<std::uint32_t>(1.5F)} << 32U);
  list.set_real(0, -2.5);
  EXPECT_EQ(call(address(&same), types({slot_kind::word}, result_kind::bits), list),
            std::bit_cast<std::uint64_t>(-2.5));
}

TEST(kernel_call, extends_integers_by_their_own_type) {
  argument_list list;
  list.set_bits(0, 0x1FE);
  const std::pair<slot_kind, std::uint64_t> cases[] = {
      {slot_kind::i8, ~std::uint64_t{1}}, {slot_kind::u8, 0xFE}, {slot_kind::i16, 0x1FE}, {slot_kind::word, 0x1FE}};
  for (const auto& [kind, expected] : cases) {
    EXPECT_EQ(call(address(&same), types({kind}, result_kind::bits), list), expected);
  }
  list.set_bits(0, 0x80000000);
  EXPECT_EQ(call(address(&same), types({slot_kind::i32}, result_kind::bits), list), 0xFFFFFFFF80000000);
  EXPECT_EQ(call(address(&same), types({slot_kind::u32}, result_kind::i32), list), 0xFFFFFFFF80000000);
}

TEST(kernel_call, prefers_the_result_that_the_caller_has_named) {
  argument_list list;
  list.set_bits(0, 0xFF);
  list.result = result_kind::i8;
  EXPECT_EQ(call(address(&same), types({slot_kind::word}, result_kind::u8), list), ~std::uint64_t{0});
}

TEST(kernel_call, passes_zero_for_arguments_that_are_missing) {
  argument_list list;
  EXPECT_EQ(call(address(&same), types({slot_kind::word}, result_kind::bits), list), 0U);
}

TEST(kernel_call, takes_tags_off_pointers) {
  argument_list list;
  list.set_bits(0, tagged_pointer);
  const auto pointer = types({slot_kind::pointer}, result_kind::bits);
  EXPECT_EQ(call(address(&address_of), pointer, list), 4096U);
  EXPECT_EQ(call(address(&same), types({slot_kind::word}, result_kind::bits), list), tagged_pointer);
  EXPECT_THROW(call(address(&address_of), pointer, list, 4), call_error);
  list.set_bits(0, ~std::uint64_t{0});
  EXPECT_EQ(call(address(&address_of), pointer, list), ~std::uint64_t{0});
}

TEST(kernel_call, leaves_tags_to_those_who_know_them) {
  argument_list list;
  list.set_hmem(0, reinterpret_cast<const void*>(tagged_pointer));
  const auto pointer = types({slot_kind::pointer}, result_kind::bits);
  pointer->keeps_tags = true;
  EXPECT_EQ(call(address(&address_of), pointer, list, 4), tagged_pointer);
}

TEST(kernel_call, takes_tags_off_what_the_setter_calls_hmem_if_nothing_else_is_known) {
  argument_list list;
  list.set_hmem(0, reinterpret_cast<const void*>(tagged_pointer));
  EXPECT_EQ(call(address(&same), std::make_shared<kernel_types>(), list), 4096U);
  list.set_bits(0, tagged_pointer);
  EXPECT_EQ(call(address(&same), std::make_shared<kernel_types>(), list), tagged_pointer);
}

}  // namespace
}  // namespace ham::veo
