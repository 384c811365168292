// Only a valid address is an access that was done.
#include "transport/common/heap_access.hpp"

#include <gtest/gtest.h>

namespace ham::inline v1::transport {
namespace {

TEST(heap_access, says_what_the_check_has_found) {
  EXPECT_EQ(to_access_result(base::heap_check::valid), access_result::done);
  EXPECT_EQ(to_access_result(base::heap_check::stale), access_result::stale);
  EXPECT_EQ(to_access_result(base::heap_check::out_of_range), access_result::out_of_range);
}

TEST(heap_access, what_is_no_outcome_is_not_done) {
  EXPECT_EQ(to_access_result(static_cast<base::heap_check>(200)), access_result::out_of_range);
}

/// As an access to the own heap goes: the check alone decides.
TEST(heap_access, of_a_heap) {
  base::heap memory(base::heap::make_file());
  const base::heap::allocation one = memory.allocate(100);
  const auto at = reinterpret_cast<std::uint64_t>(one.address);
  EXPECT_EQ(to_access_result(memory.check(at, one.tag, 100)), access_result::done);
  EXPECT_EQ(to_access_result(memory.check(at + 100, one.tag, 0)), access_result::done);
  EXPECT_EQ(to_access_result(memory.check(at, one.tag, 101)), access_result::out_of_range);
  EXPECT_EQ(to_access_result(memory.check(at + 1, one.tag, SIZE_MAX)), access_result::out_of_range);
  EXPECT_EQ(to_access_result(memory.check(at - 1, one.tag, 1)), access_result::out_of_range);
  EXPECT_EQ(to_access_result(memory.check(at, one.tag + 1, 1)), access_result::stale);
  ASSERT_TRUE(memory.free(at, one.tag));
  EXPECT_EQ(to_access_result(memory.check(at, one.tag, 1)), access_result::stale);
}

}  // namespace
}  // namespace ham::transport
