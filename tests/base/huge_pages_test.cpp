// The hint is taken for any memory, and changes nothing in it.
#include "base/huge_pages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace ham::inline v1::base {
namespace {

TEST(huge_pages, a_hint_changes_no_bytes) {
  std::vector<char> memory(5 * huge_page_bytes, 'a');
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, huge_page_bytes, 2 * huge_page_bytes, memory.size()}) {
    for (const std::size_t offset : {std::size_t{0}, std::size_t{1}, huge_page_bytes}) {
      if (offset + bytes <= memory.size()) prefer_huge_pages(memory.data() + offset, bytes);
    }
  }
  EXPECT_EQ(std::count(memory.begin(), memory.end(), 'a'), static_cast<std::ptrdiff_t>(memory.size()));
  prefer_huge_pages(nullptr, 0);
}

}  // namespace
}  // namespace ham::base
