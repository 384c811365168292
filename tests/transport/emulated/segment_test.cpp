// The memory of an emulated link: a ring, and behind it a time for each of its words.
#include "transport/emulated/segment.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <set>

namespace ham::inline v1::transport::emulated {
namespace {

class link_segment : public testing::Test {
 protected:
  struct give_back {
    void operator()(std::byte* memory) const { ::operator delete[](memory, std::align_val_t{64}); }
  };
  const one_sided_layout layout{8, 8192};
  std::unique_ptr<std::byte[], give_back> memory{new (std::align_val_t{64}) std::byte[segment::bytes(layout)]()};
  const segment here{memory.get(), layout};
};

TEST_F(link_segment, every_word_has_a_time_of_its_own_behind_the_ring) {
  std::set<const void*> places;
  for (std::uint64_t at = 0; at < layout.word_bytes(); at += 8) {
    const auto* const word = reinterpret_cast<const std::byte*>(&here.word(at));
    const auto* const due = reinterpret_cast<const std::byte*>(&here.due(at));
    EXPECT_EQ(word, memory.get() + at);
    EXPECT_GE(due, memory.get() + layout.bytes());
    EXPECT_LE(due + 8, memory.get() + segment::bytes(layout));
    EXPECT_TRUE(places.insert(word).second && places.insert(due).second);
  }
}

TEST_F(link_segment, times_do_not_reach_into_the_buffers) {
  for (std::uint64_t at = 0; at < layout.word_bytes(); at += 8) here.due(at).store(-1);
  for (std::size_t at = 0; at < layout.bytes(); ++at) ASSERT_EQ(memory[at], std::byte{}) << at;
  here.word(layout.flag(1, 7)).store(5);
  EXPECT_EQ(here.due(layout.flag(1, 7)).load(), -1);
}

}  // namespace
}  // namespace ham::transport::emulated
