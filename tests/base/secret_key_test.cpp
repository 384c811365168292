// A key leaves nothing behind.
#include "base/secret_key.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <new>
#include <optional>

namespace {

using ham::base::secret_key;

secret_key some_key() {
  secret_key key;
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::byte>(i + 1);
  return key;
}

/// Memory that outlives what is made in it.
struct place {
  alignas(secret_key) std::byte bytes[sizeof(secret_key)];
  [[nodiscard]] bool holds(const secret_key& what) const { return std::ranges::equal(bytes, what); }
};

TEST(secret_key, is_wiped_when_it_goes) {
  place here;
  auto* const key = new (here.bytes) secret_key(some_key());
  ASSERT_TRUE(here.holds(some_key()));
  key->~secret_key();
  EXPECT_TRUE(here.holds(secret_key())) << "it is zeros";
}

TEST(secret_key, is_wiped_with_what_holds_it) {
  std::optional<secret_key> key = some_key();
  const std::byte* const bytes = key->data();
  key.reset();
  EXPECT_TRUE(std::all_of(bytes, bytes + secret_key::bytes, [](std::byte one) { return one == std::byte{0}; }));
}

TEST(secret_key, is_equal_to_its_copies_only) {
  const secret_key key = some_key();
  secret_key other = key;
  EXPECT_EQ(key, other);
  for (std::size_t i = 0; i < key.size(); ++i) {
    other = key;
    other[i] ^= std::byte{1};
    EXPECT_FALSE(key == other) << i;
  }
  other.wipe();
  EXPECT_EQ(other, secret_key());
}

}  // namespace
