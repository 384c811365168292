// Which device a member of a group has.
#include "transport/cuda/settings.hpp"

#include <gtest/gtest.h>

namespace ham::inline v1::transport::cuda {
namespace {

TEST(cuda_settings, members_have_the_gpu_of_their_place) {
  const group_geometry all(parse_gpu_geometry(""));
  EXPECT_EQ(all.of_member(0, 4).gpu, 0);
  EXPECT_EQ(all.of_member(3, 4).gpu, 3);
  EXPECT_EQ(all.of_member(3, 4).nodes_on_gpu, 1U);
}

TEST(cuda_settings, listed_gpus_are_given_in_turn) {
  const group_geometry listed(parse_gpu_geometry("blocks=3"), {5, 2});
  EXPECT_EQ(listed.of_member(0, 3).gpu, 5);
  EXPECT_EQ(listed.of_member(1, 3).gpu, 2);
  EXPECT_EQ(listed.of_member(2, 3).gpu, 5);
  EXPECT_EQ(listed.of_member(2, 3).blocks, 3U);
}

TEST(cuda_settings, members_know_how_many_share_their_gpu) {
  const group_geometry listed(parse_gpu_geometry(""), {5, 2});
  EXPECT_EQ(listed.of_member(0, 3).nodes_on_gpu, 2U);
  EXPECT_EQ(listed.of_member(1, 3).nodes_on_gpu, 1U);
  EXPECT_EQ(listed.of_member(2, 3).nodes_on_gpu, 2U);
  const group_geometry same(parse_gpu_geometry(""), {0});
  for (std::size_t member = 0; member < 4; ++member) EXPECT_EQ(same.of_member(member, 4).nodes_on_gpu, 4U) << member;
  EXPECT_EQ(same.of_member(0, 0).nodes_on_gpu, 1U) << "one that comes later";
  const group_geometry twice(parse_gpu_geometry(""), {0, 0, 1});
  EXPECT_EQ(twice.of_member(0, 3).nodes_on_gpu, 2U);
}

TEST(cuda_settings, emulated_devices_have_no_number) {
  EXPECT_EQ(group_geometry(parse_geometry("")).of_member(2, 3).gpu, geometry::emulated);
}

}  // namespace
}  // namespace ham::transport::cuda
