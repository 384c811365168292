// Memory of this node that others name: what is checked, and how numbers change their byte order.
#include "runtime/local_memory.hpp"

#include <array>
#include <cstring>
#include <vector>

#include "emulation.hpp"
#include "offload/loopback_job.hpp"

namespace ham::inline v1::offload::detail {
namespace {

class local_memory : public test::two_targets {
 protected:
  engine& at_ = current();
  buffer<int> own_{0, 10};
  const raw_buffer place_ = raw(own_.ptr());
};

TEST_F(local_memory, is_checked_against_its_allocation) {
  check_local(at_, place_, 10 * sizeof(int));
  check_local(at_, {place_.address + 4, place_.tag}, 9 * sizeof(int));
  EXPECT_THROW(check_local(at_, place_, 10 * sizeof(int) + 1), buffer_error);
  EXPECT_THROW(check_local(at_, {place_.address - 1, place_.tag}, 1), buffer_error);
  EXPECT_THROW(check_local(at_, {place_.address, place_.tag + 1}, 1), buffer_error);
}

TEST_F(local_memory, is_written_and_read) {
  const std::array<int, 3> sent{1, 2, 3};
  store_local(at_, place_, sent.data(), sizeof sent);
  EXPECT_EQ(static_cast<int*>(pointer_to(place_))[2], 3);
  std::array<int, 3> got{};
  load_local(at_, place_, got.data(), sizeof got);
  EXPECT_EQ(got, sent);
  EXPECT_THROW(store_local(at_, place_, sent.data(), 1000), buffer_error);
  EXPECT_THROW(load_local(at_, {place_.address, place_.tag + 1}, got.data(), 4), buffer_error);
}

TEST_F(local_memory, without_a_tag_is_asked_of_the_kernel) {
  if (test::emulated()) GTEST_SKIP() << "the emulator has no process_vm_readv, by which addresses are checked";
  std::array<int, 3> mine{4, 5, 6};
  const raw_buffer untracked{reinterpret_cast<std::uintptr_t>(mine.data()), 0};
  std::array<int, 3> got{};
  load_local(at_, untracked, got.data(), sizeof got);
  EXPECT_EQ(got, mine);
  store_local(at_, untracked, std::array<int, 1>{9}.data(), sizeof(int));
  EXPECT_EQ(mine[0], 9);
  EXPECT_THROW(load_local(at_, {16, 0}, got.data(), 1), buffer_error);
  EXPECT_THROW(store_local(at_, {16, 0}, mine.data(), 1), buffer_error);
}

TEST_F(local_memory, a_node_like_this_one_swaps_nothing) {
  EXPECT_EQ(swap_width(at_, 1, element_of<double>()), 0U);
  EXPECT_EQ(swap_width(at_, 1, {0, false}), 0U);
}

TEST(swap_bytes, of_each_number) {
  std::array<std::byte, 8> numbers{};
  const auto reset = [&] {
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::byte>(i);
  };
  const auto after = [&](std::uint32_t width, std::array<int, 8> expected) {
    reset();
    swap_bytes(numbers.data(), numbers.size(), width);
    std::array<int, 8> got{};
    for (std::size_t i = 0; i < got.size(); ++i) got[i] = std::to_integer<int>(numbers[i]);
    EXPECT_EQ(got, expected) << width;
  };
  after(0, {0, 1, 2, 3, 4, 5, 6, 7});
  after(2, {1, 0, 3, 2, 5, 4, 7, 6});
  after(4, {3, 2, 1, 0, 7, 6, 5, 4});
  after(8, {7, 6, 5, 4, 3, 2, 1, 0});
}

}  // namespace
}  // namespace ham::offload::detail
