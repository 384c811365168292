// A peer's heap in this process: copies go where its owner sees them, and nothing else of it can be reached.
#include "transport/common/mapped_memory.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace ham::inline v1::transport {
namespace {

class mapped_heap : public testing::Test {
 protected:
  [[nodiscard]] static std::uint64_t address_of(const base::heap::allocation& one) {
    return reinterpret_cast<std::uint64_t>(one.address);
  }
  [[nodiscard]] static std::vector<std::byte> content_of(const base::heap::allocation& one, std::size_t size) {
    const auto* const begin = static_cast<const std::byte*>(one.address);
    return {begin, begin + size};
  }

  base::heap owner{base::heap::make_file()};
  mapped_memory view{base::unique_fd(::fcntl(owner.fd(), F_DUPFD_CLOEXEC, 0))};
};

TEST_F(mapped_heap, is_written_and_read_in_part_and_as_a_whole) {
  const auto one = owner.allocate(1000);
  std::memset(one.address, 1, 1000);
  const std::vector<std::byte> sent(100, std::byte{7});
  ASSERT_EQ(view.put(address_of(one) + 450, one.tag, sent.data(), sent.size()), access_result::done);
  std::vector<std::byte> expected(1000, std::byte{1});
  std::fill(expected.begin() + 450, expected.begin() + 550, std::byte{7});
  EXPECT_EQ(content_of(one, 1000), expected);
  std::vector<std::byte> back(1000);
  ASSERT_EQ(view.get(address_of(one), one.tag, back.data(), back.size()), access_result::done);
  EXPECT_EQ(back, expected);
}

TEST_F(mapped_heap, is_not_touched_outside_of_an_allocation) {
  const auto one = owner.allocate(64);
  const auto next = owner.allocate(64);
  std::memset(one.address, 1, 64);
  std::memset(next.address, 2, 64);
  std::vector<std::byte> some(128, std::byte{9});
  for (const auto& [at, size] : std::vector<std::pair<std::uint64_t, std::size_t>>{{address_of(one), 65},
                                                                                   {address_of(one) + 64, 1},
                                                                                   {address_of(one) - 1, 1},
                                                                                   {0, 1},
                                                                                   {~std::uint64_t{0}, 1}}) {
    EXPECT_EQ(view.put(at, one.tag, some.data(), size), access_result::out_of_range) << size;
    EXPECT_EQ(view.get(at, one.tag, some.data(), size), access_result::out_of_range) << size;
  }
  EXPECT_EQ(content_of(one, 64), std::vector<std::byte>(64, std::byte{1}));
  EXPECT_EQ(content_of(next, 64), std::vector<std::byte>(64, std::byte{2}));
  EXPECT_EQ(some, std::vector<std::byte>(128, std::byte{9}));
}

TEST_F(mapped_heap, is_where_its_owner_sees_what_is_written) {
  const auto one = owner.allocate(100);
  access_result how{};
  const std::shared_ptr<std::byte> here = view.map(address_of(one) + 10, one.tag, 90, how);
  ASSERT_EQ(how, access_result::done);
  std::memset(here.get(), 5, 90);
  EXPECT_EQ(content_of(one, 100)[10], std::byte{5});
  EXPECT_EQ(content_of(one, 100)[99], std::byte{5});
  EXPECT_EQ(view.map(address_of(one) + 10, one.tag, 91, how), nullptr);
  EXPECT_EQ(how, access_result::out_of_range);
  EXPECT_EQ(view.map(address_of(one), one.tag + 1, 1, how), nullptr);
  EXPECT_EQ(how, access_result::stale);
}

TEST_F(mapped_heap, stays_mapped_while_somebody_has_a_part_of_it) {
  const auto one = owner.allocate(100);
  access_result how{};
  std::shared_ptr<std::byte> here = view.map(address_of(one), one.tag, 100, how);
  view.abandon();
  *here = std::byte{9};
  EXPECT_EQ(content_of(one, 1)[0], std::byte{9});
  EXPECT_EQ(view.map(address_of(one), one.tag, 100, how), nullptr);
  EXPECT_EQ(how, access_result::lost);
  here.reset();
}

TEST_F(mapped_heap, knows_freed_memory_even_if_another_allocation_is_there_now) {
  const auto one = owner.allocate(64);
  ASSERT_TRUE(owner.free(address_of(one), one.tag));
  const auto again = owner.allocate(64);
  ASSERT_EQ(again.address, one.address);
  std::byte any{5};
  EXPECT_EQ(view.put(address_of(one), one.tag, &any, 1), access_result::stale);
  EXPECT_EQ(view.get(address_of(one), 0, &any, 1), access_result::stale);
  EXPECT_EQ(view.put(address_of(one), again.tag, &any, 1), access_result::done);
}

TEST_F(mapped_heap, is_lost_once_it_was_abandoned) {
  const auto one = owner.allocate(64);
  std::memset(one.address, 1, 64);
  std::byte any{5};
  ASSERT_EQ(view.put(address_of(one), one.tag, &any, 1), access_result::done);
  view.abandon();
  EXPECT_EQ(view.put(address_of(one) + 1, one.tag, &any, 1), access_result::lost);
  EXPECT_EQ(view.get(address_of(one), one.tag, &any, 1), access_result::lost);
  EXPECT_EQ(content_of(one, 2), (std::vector{std::byte{5}, std::byte{1}}));
}

TEST_F(mapped_heap, lets_several_threads_move_parts_of_one_access) {
  EXPECT_EQ(view.background(), remote_memory::background_access::parts);
}

}  // namespace
}  // namespace ham::transport
