// When memory of other processes is page-locked, and what is known of it until then.
#include "runtime/page_locks.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "runtime/stepped_memory.hpp"

namespace ham::inline v1::detail {
namespace {

class locks_of_pages : public testing::Test {
 protected:
  std::vector<std::byte> pages_ = std::vector<std::byte>(10'000);
  test::stepped_memory memory_{1000};
  page_locks locks_{memory_};
};

TEST_F(locks_of_pages, are_taken_when_the_device_is_idle) {
  EXPECT_FALSE(locks_.wanted());
  EXPECT_FALSE(locks_.has(pages_));
  EXPECT_FALSE(locks_.has(pages_));
  EXPECT_TRUE(locks_.wanted());
  EXPECT_EQ(memory_.locked(), 0U);
  locks_.lock_wanted();
  EXPECT_FALSE(locks_.wanted());
  EXPECT_TRUE(locks_.has(pages_));
  EXPECT_EQ(memory_.locked(), 1U);
  EXPECT_FALSE(locks_.has(std::span(pages_).first(5000))) << "another place";
  locks_.lock_wanted();
  EXPECT_EQ(memory_.locked(), 2U);
}

TEST_F(locks_of_pages, that_the_device_refuses_are_not_asked_for_again) {
  memory_.refuse_locks();
  EXPECT_FALSE(locks_.has(pages_));
  locks_.lock_wanted();
  EXPECT_FALSE(locks_.has(pages_));
  EXPECT_FALSE(locks_.wanted());
}

TEST_F(locks_of_pages, are_asked_for_once) {
  int asked = 0;
  locks_.on_wanted([&asked] { ++asked; });
  EXPECT_FALSE(locks_.has(pages_));
  EXPECT_FALSE(locks_.has(pages_));
  EXPECT_EQ(asked, 1);
  locks_.on_wanted({});
  EXPECT_FALSE(locks_.has(std::span(pages_).first(1)));
  EXPECT_EQ(asked, 1);
}

TEST_F(locks_of_pages, are_limited) {
  for (std::size_t i = 0; i < page_locks::max_places; ++i) EXPECT_FALSE(locks_.has(std::span(pages_).first(i)));
  locks_.lock_wanted();
  EXPECT_FALSE(locks_.has(std::span(pages_).first(page_locks::max_places)));
  EXPECT_FALSE(locks_.wanted());
  EXPECT_TRUE(locks_.has(std::span(pages_).first(7)));
}

}  // namespace
}  // namespace ham::detail
