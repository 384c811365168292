// One object of the process, in static storage.
#include "base/immortal.hpp"

#include <gtest/gtest.h>

namespace ham::inline v1::base {
namespace {

struct counted {
  counted() { ++made; }
  ~counted() { ++destroyed; }
  static inline int made = 0;
  static inline int destroyed = 0;
};
struct other;

TEST(immortal, is_made_once_for_each_tag) {
  counted& one = immortal<counted>();
  EXPECT_EQ(&immortal<counted>(), &one);
  EXPECT_EQ(counted::made, 1);
  EXPECT_NE((&immortal<counted, other>()), &one);
  EXPECT_EQ(counted::made, 2);
  EXPECT_EQ(counted::destroyed, 0);
}

}  // namespace
}  // namespace ham::base
