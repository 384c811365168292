// Memory is given back in complete pages, and only what lies inside.
#include "base/drop_pages.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace ham::inline v1::base {
namespace {

TEST(drop_pages, empties_all_complete_pages) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const mapped = ::mmap(nullptr, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  auto* const bytes = static_cast<std::byte*>(mapped);
  std::memset(bytes, 7, 4 * page);
  drop_pages({bytes + 1, 3 * page});  // ends one byte into the last page
  EXPECT_EQ(bytes[page - 1], std::byte{7}) << "its page is not all inside";
  EXPECT_EQ(bytes[page], std::byte{0});
  EXPECT_EQ(bytes[3 * page - 1], std::byte{0});
  EXPECT_EQ(bytes[3 * page], std::byte{7});
  drop_pages({bytes + 10, page});
  EXPECT_EQ(bytes[10], std::byte{7}) << "no complete page";
  bytes[page] = std::byte{9};
  EXPECT_EQ(bytes[page], std::byte{9}) << "the addresses stay usable";
  ::munmap(mapped, 4 * page);
}

}  // namespace
}  // namespace ham::base
