// Which device a member of a group has.
#include "transport/cuda/settings.hpp"

#include <gtest/gtest.h>

namespace ham::inline v1::transport::cuda {
namespace {

TEST(cuda_settings, members_have_the_gpu_of_their_place) {
  const group_geometry all(parse_gpu_geometry(""));
  EXPECT_EQ(all.of_member(0).gpu, 0);
  EXPECT_EQ(all.of_member(3).gpu, 3);
}

TEST(cuda_settings, listed_gpus_are_given_in_turn) {
  const group_geometry listed(parse_gpu_geometry("blocks=3"), {5, 2});
  EXPECT_EQ(listed.of_member(0).gpu, 5);
  EXPECT_EQ(listed.of_member(1).gpu, 2);
  EXPECT_EQ(listed.of_member(2).gpu, 5);
  EXPECT_EQ(listed.of_member(2).blocks, 3U);
}

TEST(cuda_settings, emulated_devices_have_no_number) {
  EXPECT_EQ(group_geometry(parse_geometry("")).of_member(2).gpu, geometry::emulated);
}

}  // namespace
}  // namespace ham::transport::cuda
