// A peer's heap over the emulated link: checked before anything moves, and gone when it was abandoned.
#include "transport/emulated/memory.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <vector>

namespace ham::inline v1::transport::emulated {
namespace {

class linked_heap : public testing::Test {
 protected:
  [[nodiscard]] static std::uint64_t address_of(const base::heap::allocation& one) {
    return reinterpret_cast<std::uint64_t>(one.address);
  }
  base::heap owner{base::heap::make_file()};
  peer_memory there{base::unique_fd(::fcntl(owner.fd(), F_DUPFD_CLOEXEC, 0)), std::make_shared<wire>(medium{})};
};

TEST_F(linked_heap, is_written_and_read) {
  const auto one = owner.allocate(1000);
  const std::vector<std::byte> sent(500, std::byte{3});
  ASSERT_EQ(there.put(address_of(one) + 500, one.tag, sent.data(), sent.size()), access_result::done);
  EXPECT_EQ(static_cast<std::byte*>(one.address)[999], std::byte{3});
  std::vector<std::byte> back(500);
  ASSERT_EQ(there.get(address_of(one) + 500, one.tag, back.data(), back.size()), access_result::done);
  EXPECT_EQ(back, sent);
}

TEST_F(linked_heap, is_not_touched_where_the_check_fails) {
  const auto one = owner.allocate(64);
  std::vector<std::byte> some(100, std::byte{7});
  static_cast<std::byte*>(one.address)[0] = std::byte{1};
  EXPECT_EQ(there.put(address_of(one), one.tag, some.data(), 65), access_result::out_of_range);
  EXPECT_EQ(there.get(address_of(one), one.tag, some.data(), 65), access_result::out_of_range);
  EXPECT_EQ(there.put(address_of(one), one.tag + 1, some.data(), 1), access_result::stale);
  EXPECT_EQ(there.get(address_of(one), 0, some.data(), 1), access_result::stale);
  EXPECT_EQ(static_cast<std::byte*>(one.address)[0], std::byte{1});
  EXPECT_EQ(some, std::vector<std::byte>(100, std::byte{7}));
}

TEST_F(linked_heap, is_lost_once_it_was_abandoned) {
  const auto one = owner.allocate(64);
  there.abandon();
  std::byte any{};
  EXPECT_EQ(there.put(address_of(one), one.tag, &any, 1), access_result::lost);
  EXPECT_EQ(there.get(address_of(one), one.tag, &any, 1), access_result::lost);
}

TEST_F(linked_heap, is_moved_on_one_thread) {
  EXPECT_EQ(there.background(), remote_memory::background_access::undivided)
      << "parts would each pay the link's latency";
}

}  // namespace
}  // namespace ham::transport::emulated
