#include "runtime/node_memory.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "core/peer_table.hpp"
#include "runtime/device_heap.hpp"
#include "runtime/stepped_memory.hpp"

namespace node_memory_test {

using namespace ham;

/// Memory of another node that only one kind of thread may use.
class guarded_memory final : public transport::remote_memory {
 public:
  bool open = true;
  transport::access_result put(std::uint64_t, std::uint64_t, const std::byte*, std::size_t) override {
    return transport::access_result::done;
  }
  transport::access_result get(std::uint64_t, std::uint64_t, std::byte*, std::size_t) override {
    return transport::access_result::done;
  }
  bool open_to_me() const noexcept override { return open; }
};

class node_memory : public testing::Test {
 protected:
  detail::peer_table peers_{2};
  detail::peer& who_ = *peers_.claim(1);
  detail::node_memory memory_{nullptr, std::make_unique<base::heap>(base::heap::make_file())};
};

TEST_F(node_memory, of_a_node_without_one_sided_access_there_is_none) { EXPECT_EQ(memory_.of(who_), nullptr); }

TEST_F(node_memory, of_another_node_is_used_unless_it_is_closed_to_the_thread_or_switched_off) {
  const auto theirs = std::make_shared<guarded_memory>();
  who_.memory = theirs;
  EXPECT_EQ(memory_.of(who_), theirs.get());
  theirs->open = false;
  EXPECT_EQ(memory_.of(who_), nullptr);
  theirs->open = true;
  memory_.set_one_sided(false);
  EXPECT_EQ(memory_.of(who_), nullptr);
}

TEST_F(node_memory, counts_what_is_moved) {
  memory_.count_put(100);
  memory_.count_put(20);
  memory_.count_got(7);
  EXPECT_EQ(memory_.bytes_put(), 120U);
  EXPECT_EQ(memory_.bytes_got(), 7U);
}

TEST_F(node_memory, its_own_is_checked_by_address_and_tag) {
  const base::heap::allocation got = memory_.own().allocate(64);
  const auto address = reinterpret_cast<std::uintptr_t>(got.address);
  EXPECT_EQ(memory_.own().check(address, got.tag, 64), base::heap_check::valid);
  EXPECT_EQ(memory_.own().check(address, got.tag + 1, 64), base::heap_check::stale);
}

TEST_F(node_memory, is_allocated_in_its_process_which_peers_may_reach) {
  EXPECT_EQ(memory_.device(), nullptr);
  EXPECT_EQ(memory_.reachable(), &memory_.own());
  const auto got = memory_.allocate(64);
  EXPECT_EQ(memory_.own().check(got.address, got.tag, 64), base::heap_check::valid);
  EXPECT_EQ(memory_.tag_of(got.address + 63), got.tag);
  EXPECT_TRUE(memory_.free(got.address, got.tag));
  EXPECT_EQ(memory_.check(got.address, got.tag, 64), base::heap_check::stale);
}

TEST_F(node_memory, or_on_its_device_which_they_do_not) {
  auto device = std::make_unique<test::stepped_memory>(1000);
  const transport::device_memory::block arena = device->arena();
  memory_.use_device(std::make_shared<detail::device_heap>(std::move(device)));
  EXPECT_EQ(memory_.reachable(), nullptr);
  const auto got = memory_.allocate(64);
  EXPECT_EQ(got.address, arena.address);
  EXPECT_EQ(memory_.own().live(), 0U);
  EXPECT_EQ(memory_.check(got.address, got.tag, 64), base::heap_check::valid);
  EXPECT_EQ(memory_.check(got.address, got.tag, 65), base::heap_check::out_of_range);
  EXPECT_EQ(memory_.tag_of(got.address), got.tag);
  EXPECT_TRUE(memory_.free(got.address, got.tag));
  EXPECT_FALSE(memory_.free(got.address, got.tag));
  EXPECT_THROW(static_cast<void>(memory_.allocate(arena.bytes + 1)), std::bad_alloc);
}

}  // namespace node_memory_test
