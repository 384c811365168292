// What counts as a medium of a one-sided ring, and the stages of one that takes any memory.
#include "transport/common/memory_access.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>

namespace ham::inline v1::transport {
namespace {

struct words_only {
  std::uint64_t read_word(std::uint64_t) noexcept;
  void write_word(std::uint64_t, std::uint64_t) noexcept;
};
struct words_and_blocks : words_only {
  void read_block(std::uint64_t, std::byte*, std::size_t) noexcept;
  void write_block(std::uint64_t, const std::byte*, std::size_t) noexcept;
  void fence() noexcept;
  bool failed() const noexcept;
};
struct in_place_medium : words_and_blocks {
  static constexpr bool in_place = true;
  std::byte* at(std::uint64_t) noexcept;
};
struct remote_medium : words_and_blocks, ordinary_stages {
  static constexpr bool in_place = false;
};
struct without_stages : words_and_blocks {
  static constexpr bool in_place = false;
};
struct throwing_medium : in_place_medium {
  std::uint64_t read_word(std::uint64_t);
};
static_assert(near_memory<in_place_medium> && !far_memory<in_place_medium> && memory_access<in_place_medium>);
static_assert(far_memory<remote_medium> && !near_memory<remote_medium> && memory_access<remote_medium>);
static_assert(!memory_access<without_stages>, "messages of the remote side are built somewhere");
static_assert(!memory_access<throwing_medium>, "endpoints must not throw");

TEST(memory_access, stages_are_aligned_and_apart_and_stay_where_they_are) {
  ordinary_stages stages;
  std::vector<std::pair<std::byte*, std::size_t>> given;
  for (const std::size_t size : {1, 64, 65, 4096, 100'000}) {
    std::byte* const stage = stages.stage(size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(stage) % 64, 0U);
    std::memset(stage, static_cast<int>(given.size()), size);
    given.emplace_back(stage, size);
  }
  const ordinary_stages moved = std::move(stages);
  for (std::size_t i = 0; i < given.size(); ++i) {
    for (std::size_t at = 0; at < given[i].second; ++at)
      ASSERT_EQ(given[i].first[at], static_cast<std::byte>(i)) << "stage " << i;
  }
}

}  // namespace
}  // namespace ham::transport
