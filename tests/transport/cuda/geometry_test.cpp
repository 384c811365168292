#include "transport/cuda/geometry.hpp"

#include <gtest/gtest.h>

#include <string>

#include "ham/error.hpp"

namespace ham::inline v1::transport::cuda {
namespace {

std::string refusal(std::string_view text) {
  try {
    static_cast<void>(parse_geometry(text));
  } catch (const config_error& problem) {
    return problem.what();
  }
  return "none";
}

TEST(cuda_geometry, keeps_the_defaults_of_what_is_not_named) {
  EXPECT_EQ(parse_geometry("").blocks, geometry{}.blocks);
  const geometry read = parse_geometry("blocks=3/lanes=4/read=1200/write=600/fence=290/linger=50/watchdog=7");
  EXPECT_EQ(read.blocks, 3U);
  EXPECT_EQ(read.warps, geometry{}.warps);
  EXPECT_EQ(read.lanes, 4U);
  EXPECT_EQ(read.read_ns, 1200);
  EXPECT_EQ(read.write_ns, 600);
  EXPECT_EQ(read.fence_ns, 290);
  EXPECT_EQ(read.linger_ns, 50'000);
  EXPECT_EQ(read.watchdog_ns, 7'000'000);
}

TEST(cuda_geometry, says_where_memory_is) {
  EXPECT_EQ(geometry{}.memory, memory_kind::device);
  EXPECT_EQ(parse_geometry("memory=shared").memory, memory_kind::shared);
  const geometry read = parse_geometry("memory=device/arena=64/bandwidth=12000");
  EXPECT_EQ(read.memory, memory_kind::device);
  EXPECT_EQ(read.arena_bytes, std::uint64_t{64} << 20);
  EXPECT_EQ(read.bandwidth_mb_s, 12'000);
}

TEST(cuda_geometry, refuses_what_cannot_be) {
  EXPECT_NE(refusal("blocs=1").find("the keys are"), std::string::npos);
  EXPECT_NE(refusal("blocks").find("a number from 1"), std::string::npos);
  EXPECT_NE(refusal("blocks=0").find("a number from 1"), std::string::npos);
  EXPECT_NE(refusal("blocks=16/warps=16/lanes=2").find("256 threads"), std::string::npos);
  EXPECT_NE(refusal("memory=elsewhere").find("device or shared"), std::string::npos);
  EXPECT_NE(refusal("arena=0").find("a number from 1"), std::string::npos);
  geometry unknown;
  unknown.memory = static_cast<memory_kind>(7);
  EXPECT_FALSE(unknown.sane());
  geometry endless;
  endless.arena_bytes = UINT64_MAX;
  EXPECT_FALSE(endless.sane());
  geometry mad;
  mad.read_ns = -1;
  EXPECT_FALSE(mad.sane());
  geometry backwards;
  backwards.fence_ns = -1;
  EXPECT_FALSE(backwards.sane());
}

TEST(cuda_geometry, of_real_gpus_has_warps_of_32) {
  const geometry usual = parse_gpu_geometry("");
  EXPECT_EQ(usual.gpu, 0);
  EXPECT_EQ(usual.blocks, 0U) << "the driver knows how many fit";
  EXPECT_EQ(usual.warps * usual.lanes, 128U);
  EXPECT_EQ(usual.arena_bytes, 0U) << "the driver knows what is free";
  EXPECT_TRUE(usual.sane());
  const geometry read = parse_gpu_geometry("blocks=9/threads=64/linger=50/watchdog=7");
  EXPECT_EQ(read.blocks, 9U);
  EXPECT_EQ(read.warps, 2U);
  EXPECT_EQ(read.linger_ns, 50'000);
  EXPECT_EQ(read.watchdog_ns, 7'000'000);
  EXPECT_THROW(static_cast<void>(parse_gpu_geometry("threads=33")), config_error);
  EXPECT_THROW(static_cast<void>(parse_gpu_geometry("read=1")), config_error);
  EXPECT_EQ(parse_gpu_geometry("arena=512").arena_bytes, std::uint64_t{512} << 20);
  EXPECT_THROW(static_cast<void>(parse_gpu_geometry("memory=shared")), config_error);
  geometry mad = usual;
  mad.lanes = 16;
  EXPECT_FALSE(mad.sane());
}

// ---- memory of a GPU that several nodes share

constexpr std::uint64_t one_mib = std::uint64_t{1} << 20;
constexpr std::uint64_t all_of_gpu = 1000 * one_mib;

TEST(arena_share, of_one_node_is_nine_tenths_of_what_is_free) {
  EXPECT_EQ(arena_share(all_of_gpu, all_of_gpu, 1), 900 * one_mib);
  EXPECT_EQ(arena_share(all_of_gpu / 2, all_of_gpu, 1), 450 * one_mib) << "others use the GPU, too";
  EXPECT_EQ(arena_share(all_of_gpu, all_of_gpu, 0), 900 * one_mib);
}

TEST(arena_share, of_several_nodes_does_not_depend_on_who_comes_first) {
  constexpr std::uint64_t own = 224 * one_mib;  // 225
  std::uint64_t free = all_of_gpu;
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(arena_share(free, all_of_gpu, 4), own) << i;
    free -= own;
  }
}

TEST(arena_share, of_a_gpu_that_others_use_is_no_more_than_what_is_free) {
  EXPECT_EQ(arena_share(100 * one_mib, all_of_gpu, 4), 90 * one_mib);
  EXPECT_EQ(arena_share(one_mib, all_of_gpu, 4), 0U);
  EXPECT_EQ(arena_share(0, all_of_gpu, 1), 0U);
}

TEST(arena_share, is_a_multiple_of_what_the_driver_maps) {
  EXPECT_EQ(arena_share(all_of_gpu - 1, all_of_gpu, 1) % (2 * one_mib), 0U);
  EXPECT_EQ(arena_share(all_of_gpu, all_of_gpu, 7) % (2 * one_mib), 0U);
}

}  // namespace
}  // namespace ham::transport::cuda
