// Libraries by their handles and symbols by their names: what was never given out leads nowhere.
#include "veo/helper/symbols.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>

#include "linked_kernels.hpp"

namespace ham::inline v1::veo {
namespace {

constexpr const char* some_library = "libm.so.6";

TEST(libraries, symbols_of_a_library_are_those_of_the_loader) {
  libraries here;
  const std::uint64_t library = here.load(some_library);
  ASSERT_NE(library, 0U);
  void* const same = ::dlopen(some_library, RTLD_NOW);
  EXPECT_EQ(here.symbol(library, "cos"), reinterpret_cast<std::uintptr_t>(::dlsym(same, "cos")));
  EXPECT_EQ(here.symbol(library, "ham_no_such_function"), 0U);
  EXPECT_EQ(here.unload(library), 0);
  ::dlclose(same);
}

TEST(libraries, are_unloaded_as_often_as_they_were_loaded) {
  libraries here;
  const std::uint64_t library = here.load(some_library);
  ASSERT_NE(library, 0U);
  EXPECT_EQ(here.load(some_library), library);
  const std::uint32_t before = here.kernels().generation();
  EXPECT_EQ(here.unload(library), 0);
  EXPECT_NE(here.symbol(library, "cos"), 0U);
  EXPECT_EQ(here.kernels().generation(), before) << "it is still there";
  EXPECT_EQ(here.unload(library), 0);
  EXPECT_EQ(here.symbol(library, "cos"), 0U);
  EXPECT_NE(here.kernels().generation(), before);
  EXPECT_NE(here.unload(library), 0);
}

TEST(libraries, handles_that_were_not_given_out_are_refused) {
  libraries here;
  void* const own = ::dlopen(some_library, RTLD_NOW);
  ASSERT_NE(own, nullptr);
  const std::uint64_t foreign = reinterpret_cast<std::uintptr_t>(own);
  EXPECT_EQ(here.symbol(foreign, "cos"), 0U);
  EXPECT_NE(here.unload(foreign), 0);
  EXPECT_EQ(here.symbol(12345, "cos"), 0U) << "the loader would crash";
  EXPECT_NE(here.unload(0), 0);
  ::dlclose(own);
}

TEST(libraries, the_loader_says_what_cannot_be_loaded) {
  libraries here;
  testing::internal::CaptureStderr();
  const std::uint64_t library = here.load("/no/such/library.so");
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(library, 0U);
  EXPECT_EQ(said.find("veo: cannot load /no/such/library.so: "), 0U) << said;
}

TEST(libraries, what_was_linked_in_is_found_without_one) {
  libraries here;
  EXPECT_EQ(here.symbol(0, "ham_test_scale"), test::address_of(&ham_test_scale));
  EXPECT_EQ(here.symbol(0, "ham_test_count"), test::address_of(&ham_test_count));
  EXPECT_EQ(here.symbol(0, "ham_test_"), 0U);
  EXPECT_EQ(here.symbol(0, ""), 0U);
}

}  // namespace
}  // namespace ham::veo
