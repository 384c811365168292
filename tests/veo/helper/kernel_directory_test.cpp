// Types of kernels by their addresses: those of this program, which is compiled with debug information.
#include "veo/helper/kernel_directory.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>

#include "linked_kernels.hpp"

namespace ham::inline v1::veo {
namespace {

TEST(kernel_directory, knows_the_types_of_kernels_that_were_linked_in) {
  kernel_directory here;
  const auto scale = here.types_of(test::address_of(&ham_test_scale));
  ASSERT_TRUE(scale->known) << scale->why;
  EXPECT_EQ(scale->parameters, (std::vector{slot_kind::real, slot_kind::i32}));
  EXPECT_EQ(scale->result, result_kind::real);
  EXPECT_EQ(scale->name, "ham_test_scale");
  EXPECT_FALSE(scale->variadic);
  const auto count = here.types_of(test::address_of(&ham_test_count));
  ASSERT_TRUE(count->known) << count->why;
  EXPECT_EQ(count->parameters, std::vector{slot_kind::pointer});
  EXPECT_EQ(count->result, result_kind::bits);
}

TEST(kernel_directory, reads_the_types_of_a_kernel_once) {
  kernel_directory here;
  EXPECT_EQ(here.types_of(test::address_of(&ham_test_scale)), here.types_of(test::address_of(&ham_test_scale)));
}

TEST(kernel_directory, an_address_that_is_nowhere_has_a_reason) {
  kernel_directory here;
  const auto nowhere = here.types_of(16);
  EXPECT_FALSE(nowhere->known);
  EXPECT_EQ(nowhere->why, "it is in no library");
  EXPECT_EQ(nowhere->name, "without a name");
  here.named(0, 32, "kernel");
  EXPECT_EQ(here.types_of(32)->name, "kernel");
}

TEST(kernel_directory, the_middle_of_a_function_is_no_kernel) {
  kernel_directory here;
  const auto inside = here.types_of(test::address_of(&ham_test_scale) + 1);
  EXPECT_FALSE(inside->known);
  EXPECT_EQ(inside->why, "its library has no symbol for it");
}

TEST(kernel_directory, says_where_a_kernel_without_types_is) {
  kernel_directory here;
  void* const library = ::dlopen("libm.so.6", RTLD_NOW);
  ASSERT_NE(library, nullptr);
  here.loaded(library);
  const std::uint64_t kernel = reinterpret_cast<std::uintptr_t>(::dlsym(library, "frexp"));
  here.named(1, kernel, "frexp");
  const auto types = here.types_of(kernel);
  EXPECT_EQ(types->name.find("frexp in /"), 0U) << types->name;
  EXPECT_TRUE(types->known || !types->why.empty());
  ::dlclose(library);
}

TEST(kernel_directory, forgets_what_it_knows_of_a_library_that_goes) {
  kernel_directory here;
  void* const library = ::dlopen("libm.so.6", RTLD_NOW);
  ASSERT_NE(library, nullptr);
  here.loaded(library);
  here.named(7, 48, "of the library");
  here.named(8, 64, "of another");
  EXPECT_EQ(here.types_of(48)->name, "of the library");
  const std::uint32_t before = here.generation();
  here.unloading(library, 7);
  EXPECT_NE(here.generation(), before);
  EXPECT_EQ(here.types_of(48)->name, "without a name");
  EXPECT_EQ(here.types_of(64)->name, "of another");
  ::dlclose(library);
}

}  // namespace
}  // namespace ham::veo
