// Where kernels may come from: not from the system's libraries, unless somebody offers them.
#include "mpix/kernel_objects.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>

#include "mpix/refusal.hpp"

namespace ham::inline v1::mpix {
namespace {

TEST(kernel_objects, a_name_that_nobody_has_is_nowhere) {
  const found_function found = find_function("ham_no_such_function");
  EXPECT_EQ(found.address, nullptr);
  EXPECT_EQ(found.file, nullptr);
  EXPECT_EQ(found.elsewhere, "");
}

TEST(kernel_objects, functions_of_the_system_are_not_reached_but_said) {
  const found_function found = find_function("qsort");
  EXPECT_EQ(found.address, nullptr);
  EXPECT_NE(found.elsewhere, "");
}

TEST(kernel_objects, a_library_is_reached_once_it_was_offered) {
  const char* const function = "hypot";  // of the library of mathematics only
  EXPECT_EQ(find_function(function).address, nullptr);
  ASSERT_EQ(offer_library("libm.so.6"), "");
  const found_function found = find_function(function);
  ASSERT_NE(found.address, nullptr);
  EXPECT_NE(std::string(found.file->l_name).find("libm"), std::string::npos);
  EXPECT_EQ(offer_library("libm.so.6"), "") << "more than once does no harm";
  EXPECT_EQ(find_function("qsort").address, nullptr) << "what it needs is not offered with it";
}

TEST(kernel_objects, what_an_author_has_registered_is_reached) {
  const found_function found = find_function("registered");
  ASSERT_NE(found.address, nullptr);
  EXPECT_EQ(found.address, ::dlsym(RTLD_DEFAULT, "registered"));
  EXPECT_NE(std::string(found.file->l_name).find("mpix_kernels_registered"), std::string::npos);
}

TEST(kernel_objects, a_variable_is_no_function) {
  try {
    static_cast<void>(find_function("registered_seen"));
    ADD_FAILURE() << "it would be called";
  } catch (const refusal& why) {
    EXPECT_EQ(why.code(), failure::unknown);
    EXPECT_STREQ(why.what(), "\"registered_seen\" is a variable, not a function");
  }
}

TEST(kernel_objects, the_loader_says_what_cannot_be_offered) {
  EXPECT_NE(offer_library("libham_no_such_library.so").find("libham_no_such_library.so"), std::string::npos);
}

}  // namespace
}  // namespace ham::mpix
