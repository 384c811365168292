// Reads and writes over an emulated link take their time.
#include "transport/emulated/link.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "base/clock.hpp"
#include "transport/emulated/medium.hpp"

namespace ham::inline v1::transport::emulated {
namespace {

TEST(emulated_link, what_is_written_is_not_there_at_once_and_reads_take_their_time) {
  const one_sided_layout layout{4, 8192};
  std::unique_ptr<std::byte[], void (*)(std::byte*)> memory(
      new (std::align_val_t{64}) std::byte[segment::bytes(layout)](),
      [](std::byte* it) { ::operator delete[](it, std::align_val_t{64}); });
  const segment there{memory.get(), layout};
  const medium slow = parse_medium("read=2000000/write=50000000");
  far_access far(there, std::make_shared<wire>(slow));
  near_access near(there);
  const std::int64_t begin = base::now_ns();
  far.write_word(8, 42);
  const bool at_once = near.read_word(8) == 42;
  if (base::now_ns() - begin < 50'000'000) {
    EXPECT_FALSE(at_once);
  }
  while (near.read_word(8) != 42) ASSERT_LT(base::now_ns() - begin, 20'000'000'000);
  EXPECT_GE(base::now_ns() - begin, 50'000'000);
  near.write_word(16, 43);
  const std::int64_t reading = base::now_ns();
  EXPECT_EQ(far.read_word(16), 43U);
  EXPECT_GE(base::now_ns() - reading, 2'000'000);
}

/// Only lower bounds: a busy machine may take any time.
TEST(emulated_link, short_blocks_go_word_by_word_where_that_is_quicker) {
  const auto takes_ns = [](const char* settings, std::size_t size) {
    wire over(parse_medium(settings));
    std::int64_t least = INT64_MAX;
    for (int i = 0; i < 20; ++i) {
      const std::int64_t begin = base::now_ns();
      static_cast<void>(over.send_block(size));
      least = std::min(least, base::now_ns() - begin);
    }
    return least;
  };
  EXPECT_GE(takes_ns("setup=4000000/store=1000000", 16), 2'000'000);
  EXPECT_LT(takes_ns("setup=400000000/store=1000", 16), 400'000'000) << "else the DMA engine was set up";
  EXPECT_GE(takes_ns("setup=2000000/store=1000", 257), 2'000'000) << "too long";
  EXPECT_GE(takes_ns("initiator=host/setup=2000000/store=1000", 8), 2'000'000) << "the host has no such stores";
}

}  // namespace
}  // namespace ham::transport::emulated
