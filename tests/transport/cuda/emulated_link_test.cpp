#include "transport/cuda/emulated_link.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

namespace ham::inline v1::transport::cuda {
namespace {

TEST(emulated_link, reads_the_second_word_only_behind_the_first) {
  const emulated_link link({});
  alignas(16) std::uint64_t words[] = {0, 5};
  EXPECT_EQ(link.read_pair(words).second, 0U) << "what is not complete is not looked at";
  words[0] = 7;
  EXPECT_EQ(link.read_pair(words).first, 7U);
  EXPECT_EQ(link.read_pair(words).second, 5U);
}

TEST(emulated_link, takes_its_time) {
  const emulated_link quick({});
  EXPECT_EQ(quick.arrival_ns(), 0);
  const emulated_link slow({.read = 200'000, .write = 1'000'000'000, .fence = 300'000});
  const auto time_of = [](auto access) {
    const std::int64_t begin = base::now_ns();
    access();
    return base::now_ns() - begin;
  };
  alignas(16) std::uint64_t words[] = {5, 6};
  EXPECT_GE(time_of([&] { EXPECT_EQ(slow.read_word(words[0]), 5U); }), 200'000);
  EXPECT_GE(time_of([&] { slow.write_pair(words, {7, 8}); }), 300'000);
  EXPECT_GE(time_of([&] { slow.write_word(words[0], 9); }), 600'000) << "the host is to see it";
  const std::int64_t now = base::now_ns();
  EXPECT_GE(slow.arrival_ns() - now, 1'000'000'000);
}

TEST(emulated_link, counts_what_is_done) {
  const emulated_link link({});
  const auto counts = [&] {
    const link_counts now = link.counts();
    return std::array{now.reads, now.writes, now.fences};
  };
  using all = std::array<std::uint64_t, 3>;
  alignas(16) std::uint64_t words[] = {1, 2, 3, 4};
  std::array<std::byte, sizeof words> bytes{};
  std::uint64_t found = 0;
  link.poll([&] { found = words[0]; });
  EXPECT_EQ(found, 1U);
  EXPECT_EQ(counts(), (all{0, 0, 0})) << "it may have found nothing";
  link.count_read();
  EXPECT_EQ(link.read_word(words[0]), 1U);
  EXPECT_EQ(link.read_pair(words).second, 2U);
  link.read_block(reinterpret_cast<const std::byte*>(words), bytes.data(), bytes.size());
  EXPECT_EQ(counts(), (all{4, 0, 0}));
  link.note_word(words[0], 5);
  link.write_block(reinterpret_cast<std::byte*>(words), bytes.data(), bytes.size());
  EXPECT_EQ(counts(), (all{4, 2, 0}));
  link.write_word(words[0], 5);
  link.write_pair(words, {5, 6});
  EXPECT_EQ(counts(), (all{4, 4, 2}));
}

}  // namespace
}  // namespace ham::transport::cuda
