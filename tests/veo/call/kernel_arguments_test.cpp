// Arguments of kernels out of messages that are not what they should be.
#include "veo/call/kernel_arguments.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "ham/error.hpp"

namespace ham::inline v1::veo {
namespace {

constexpr std::size_t limit = std::size_t{1} << 20;

/// A message with these arguments: kind and word of each, then what their buffers hold.
std::vector<std::byte> message(const std::vector<std::pair<argument_kind, std::uint64_t>>& arguments,
                               const std::string& contents = {}) {
  call_head head;
  head.arguments = static_cast<std::uint32_t>(arguments.size());
  const std::size_t words_at = padded(sizeof head + arguments.size());
  std::vector<std::byte> result(words_at + arguments.size() * 8 + contents.size());
  std::memcpy(result.data(), &head, sizeof head);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    result[sizeof head + i] = static_cast<std::byte>(arguments[i].first);
    std::memcpy(result.data() + words_at + i * 8, &arguments[i].second, 8);
  }
  if (!contents.empty()) std::memcpy(result.data() + result.size() - contents.size(), contents.data(), contents.size());
  return result;
}

char* buffer(kernel_arguments& arguments, std::size_t i) { return *static_cast<char**>(arguments.places()[i]); }

using enum argument_kind;

TEST(kernel_arguments, buffers_come_and_go) {
  const auto bytes = message({{stack_in, 3}, {integer, 7}, {stack_inout, 8}, {stack_out, 5}}, "abc.....12345678");
  kernel_arguments arguments(bytes, limit);
  EXPECT_EQ(std::string(buffer(arguments, 0), 3), "abc");
  EXPECT_EQ(std::string(buffer(arguments, 2), 8), "12345678");
  EXPECT_EQ(std::string(buffer(arguments, 3), 5), std::string(5, '\0'));
  std::memcpy(buffer(arguments, 2), "changed!", 8);
  std::memcpy(buffer(arguments, 3), "out..", 5);
  const auto back = arguments.returned();
  ASSERT_EQ(back.size(), 16U);
  EXPECT_EQ(std::memcmp(back.data(), "changed!out..\0\0\0", 16), 0);
}

TEST(kernel_arguments, sizes_whose_sum_wraps_are_refused) {
  const std::vector<std::pair<argument_kind, std::uint64_t>> sixteen(16, {stack_out, std::uint64_t{1} << 63});
  EXPECT_THROW(kernel_arguments(message(sixteen), limit), call_error);
  EXPECT_THROW(kernel_arguments(message(sixteen), SIZE_MAX), call_error);
  for (const std::uint64_t size : {UINT64_MAX, UINT64_MAX - 6, UINT64_MAX - 7, UINT64_MAX - 8}) {
    EXPECT_THROW(kernel_arguments(message({{stack_out, size}}), SIZE_MAX - 16), call_error) << size;
    EXPECT_THROW(kernel_arguments(message({{stack_out, 8}, {stack_out, size}}), SIZE_MAX), call_error) << size;
    EXPECT_ANY_THROW(kernel_arguments(message({{stack_in, size}}, "12345678"), SIZE_MAX)) << size;
  }
}

TEST(kernel_arguments, buffers_take_no_more_than_the_limit) {
  EXPECT_NO_THROW(kernel_arguments(message({{stack_out, limit - 8}}), limit));
  EXPECT_THROW(kernel_arguments(message({{stack_out, limit}}), limit), call_error);
  EXPECT_THROW(kernel_arguments(message({{stack_out, limit / 2}, {stack_out, limit / 2}}), limit), call_error);
  EXPECT_THROW(kernel_arguments(message({{stack_out, std::uint64_t{1} << 40}}), limit), call_error);
}

TEST(kernel_arguments, what_is_cut_off_is_refused) {
  auto bytes = message({{stack_in, 9}, {stack_inout, 8}, {real, 1}}, std::string(24, 'x'));
  EXPECT_NO_THROW(kernel_arguments(bytes, limit));
  while (!bytes.empty()) {
    bytes.pop_back();
    EXPECT_THROW(kernel_arguments(bytes, limit), protocol_error) << bytes.size() << " bytes";
  }
  auto many = message({{integer, 1}});
  many[3] = std::byte{0xff};
  EXPECT_THROW(kernel_arguments(many, limit), protocol_error) << "four thousand million arguments";
  EXPECT_THROW(kernel_arguments(message({{static_cast<argument_kind>(7), 0}}), limit), protocol_error);
}

}  // namespace
}  // namespace ham::veo
