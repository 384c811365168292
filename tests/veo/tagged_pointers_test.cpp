// Tags of pointers: which process, which address; and numbers that are none.
#include "veo/tagged_pointers.hpp"

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <bit>
#include <cerrno>
#include <cstdint>

#include "veo_hmem.h"

namespace ham::inline v1::veo {
namespace {

constexpr std::uint64_t highest_address = (std::uint64_t{1} << 48) - 1;

TEST(tagged_pointers, keep_address_and_process_apart) {
  for (int process = 0; process < max_tagged_procs; ++process) {
    for (const std::uint64_t address : {std::uint64_t{1}, std::uint64_t{0x600000001000}, highest_address}) {
      const void* const pointer = tagged(address, process);
      EXPECT_TRUE(is_tagged(pointer));
      EXPECT_EQ(address_in(pointer), address);
      EXPECT_EQ(identifier_in(pointer), process);
      EXPECT_TRUE(is_tagged_address(bits_of(pointer)));
    }
  }
}

TEST(tagged_pointers, a_new_tag_takes_the_place_of_an_old_one) {
  const void* const once = tagged(4096, 15);
  EXPECT_EQ(tagged(bits_of(once), 0), tagged(4096, 0));
}

TEST(tagged_pointers, pointers_of_this_process_have_none) {
  const int here = 0;
  EXPECT_FALSE(is_tagged(&here));
  EXPECT_FALSE(is_tagged(nullptr));
  EXPECT_EQ(address_in(&here), bits_of(&here));
}

TEST(tagged_pointers, negative_numbers_and_doubles_are_none) {
  for (const std::int64_t number : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{-4096}, INT64_MIN, INT64_MAX})
    EXPECT_FALSE(is_tagged_address(static_cast<std::uint64_t>(number))) << number;
  for (const double number : {0.0, -0.0, 1.5, -1.5, -1e300, -1e-300})
    EXPECT_FALSE(is_tagged_address(std::bit_cast<std::uint64_t>(number))) << number;
  EXPECT_FALSE(is_tagged_address(ve_bit | (highest_address + 1)));
}

TEST(tagged_pointers, of_the_interface_are_these) {
  int here = 0;
  void* const there = tagged(0x1000, 3);
  EXPECT_EQ(veo_is_ve_addr(there), 1);
  EXPECT_EQ(veo_is_ve_addr(&here), 0);
  EXPECT_EQ(veo_get_hmem_addr(there), reinterpret_cast<void*>(0x1000));
  EXPECT_EQ(veo_get_hmem_addr(&here), &here);
  EXPECT_EQ(veo_get_proc_identifier_from_hmem(there), 3);
  EXPECT_EQ(veo_get_proc_identifier_from_hmem(&here), -1);
  EXPECT_EQ(veo_get_max_proc_identifier(), 16);
}

TEST(tagged_pointers, a_failed_system_call_answers_with_its_error) {
  EXPECT_EQ(syscall_wrapper(SYS_close, -1, 0, 0, 0, 0, 0), -EBADF);
  EXPECT_GT(syscall_wrapper(SYS_getpid, 0, 0, 0, 0, 0, 0), 0);
}

}  // namespace
}  // namespace ham::veo
