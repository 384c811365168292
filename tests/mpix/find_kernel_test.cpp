// Kernels by name, and what is known of their types: by registration, from debug information, or from the name.
#include "mpix/find_kernel.hpp"

#include <gtest/gtest.h>

#include <string>

#include "mpix/kernel.hpp"
#include "mpix/refusal.hpp"

namespace ham::inline v1::mpix {
namespace {

std::pair<failure, std::string> why_refused(const std::string& name) {
  try {
    static_cast<void>(find_kernel(name));
  } catch (const refusal& why) {
    return {why.code(), why.what()};
  }
  return {failure::none, ""};
}

TEST(find_kernel, a_name_may_have_types_behind_it) {
  EXPECT_EQ(bare_name("f"), "f");
  EXPECT_EQ(bare_name("f(int)"), "f");
  EXPECT_EQ(bare_name("f  (int, double)"), "f");
  EXPECT_EQ(bare_name("(int)"), "");
}

TEST(find_kernel, registration_says_the_types) {
  const found_kernel found = find_kernel("registered_types");
  ASSERT_TRUE(found.types);
  EXPECT_NE(found.function, nullptr);
  EXPECT_EQ(found.types->source, "registration with MPIX_KERNEL");
  EXPECT_EQ(to_string(*found.types), "long (double, int, const float*)");
}

TEST(find_kernel, types_in_the_call_must_agree_with_what_is_known) {
  EXPECT_EQ(why_refused("registered(double, int, char)").first, failure::none);
  EXPECT_EQ(why_refused("registered (double,int,char)").first, failure::none);
  const auto [code, text] = why_refused("registered(double, int)");
  EXPECT_EQ(code, failure::mismatch);
  EXPECT_EQ(
      text.find("kernel \"registered\" is void (double, int, char), says the registration with MPIX_KERNEL; the call "
                "says "),
      0U)
      << text;
}

TEST(find_kernel, debug_information_says_the_types_of_others) {
  const found_kernel found = find_kernel("plain_listing");
  ASSERT_TRUE(found.types);
  EXPECT_EQ(found.types->source, "debug information");
  ASSERT_EQ(found.types->parameters.size(), 3U);
  EXPECT_EQ(found.types->parameters[0].kind, type_kind::floating);
  EXPECT_EQ(why_refused("plain_listing(double, int, double)").first, failure::mismatch);
}

TEST(find_kernel, without_either_only_the_call_can_tell) {
  EXPECT_FALSE(find_kernel("bare_listing").types);
  const found_kernel written = find_kernel("bare_listing(double, int, char)");
  ASSERT_TRUE(written.types);
  EXPECT_EQ(written.types->source, "types in the call");
  EXPECT_EQ(written.types->parameters.size(), 3U);
}

TEST(find_kernel, what_cannot_be_called_is_refused_with_the_reason) {
  const auto nowhere = why_refused("ham_no_such_kernel");
  EXPECT_EQ(nowhere.first, failure::unknown);
  EXPECT_EQ(nowhere.second.find("there is no function \"ham_no_such_kernel\" in the children's program"), 0U);
  const auto elsewhere = why_refused("qsort");
  EXPECT_EQ(elsewhere.first, failure::unknown);
  EXPECT_NE(elsewhere.second.find(", which holds no kernels"), std::string::npos) << elsewhere.second;
  const auto open = why_refused("registered(double");
  EXPECT_EQ(open.first, failure::unknown);
  EXPECT_EQ(open.second, "\"registered(double\" lacks its last parenthesis");
  EXPECT_EQ(why_refused("registered(point)").first, failure::untyped);
  EXPECT_EQ(why_refused("registered_unknown").first, failure::untyped);
}

}  // namespace
}  // namespace ham::mpix
