// Memory of another process, through the kernel: small and large copies, and addresses that are none.
#include "veo/host/near_memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace ham::inline v1::veo {
namespace {

std::uint64_t number_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

class near_memory : public testing::Test {
 protected:
  void SetUp() override {
    char from = 1;
    char to = 0;
    if (!copy_near(::getpid(), direction::from_helper, number_of(&from), &to, 1) && (errno == ENOSYS || errno == EPERM))
      GTEST_SKIP() << "process_vm_readv is not allowed here";
    ASSERT_EQ(to, 1);
  }
};

TEST_F(near_memory, is_copied_both_ways_whatever_its_size) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{4097}, (std::size_t{1} << 20) - 1,
                                 (std::size_t{1} << 20) + 3, std::size_t{5'000'001}}) {
    std::vector<unsigned char> there(size + 1, 9);
    std::vector<unsigned char> here(size + 1);
    for (std::size_t i = 0; i < size; ++i) here[i] = static_cast<unsigned char>(i * 7 + 1);
    here[size] = 5;
    ASSERT_TRUE(copy_near(::getpid(), direction::to_helper, number_of(there.data()), here.data(), size));
    ASSERT_EQ(std::memcmp(there.data(), here.data(), size), 0) << size;
    EXPECT_EQ(there[size], 9) << "a byte too many of " << size;
    std::vector<unsigned char> back(size + 1, 3);
    ASSERT_TRUE(copy_near(::getpid(), direction::from_helper, number_of(there.data()), back.data(), size));
    ASSERT_EQ(std::memcmp(back.data(), here.data(), size), 0) << size;
    EXPECT_EQ(back[size], 3);
  }
}

TEST_F(near_memory, of_no_size_is_always_there) {
  EXPECT_TRUE(copy_near(::getpid(), direction::to_helper, 0, nullptr, 0));
}

TEST_F(near_memory, that_is_none_is_an_error) {
  char here = 1;
  EXPECT_FALSE(copy_near(::getpid(), direction::to_helper, 16, &here, 1));
  EXPECT_FALSE(copy_near(::getpid(), direction::from_helper, 16, &here, 1));
  EXPECT_EQ(here, 1);
}

TEST_F(near_memory, that_ends_in_the_middle_is_an_error_for_either_half) {
  constexpr std::size_t half = std::size_t{2} << 20;
  void* const there = ::mmap(nullptr, 2 * half, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(there, MAP_FAILED);
  auto* const begin = static_cast<char*>(there);
  std::vector<char> here(half + 1000);
  ASSERT_EQ(::mprotect(begin + half, half, PROT_NONE), 0);
  EXPECT_FALSE(copy_near(::getpid(), direction::to_helper, number_of(begin), here.data(), here.size()));
  EXPECT_TRUE(copy_near(::getpid(), direction::to_helper, number_of(begin), here.data(), half));
  ASSERT_EQ(::mprotect(begin + half, half, PROT_READ | PROT_WRITE), 0);
  ASSERT_EQ(::mprotect(begin, half, PROT_NONE), 0);
  EXPECT_FALSE(copy_near(::getpid(), direction::from_helper, number_of(begin + half - 1000), here.data(), here.size()));
  ::munmap(there, 2 * half);
}

TEST_F(near_memory, of_a_process_that_has_gone_is_an_error) {
  char here = 1;
  EXPECT_FALSE(copy_near(0x7fffffff, direction::from_helper, number_of(&here), &here, 1));
}

}  // namespace
}  // namespace ham::veo
