// cuda in HAM_NODES.
#include <gtest/gtest.h>

#include "transport/cuda/settings.hpp"
#include "transport/groups.hpp"
#include "transport/starting.hpp"

namespace ham::inline v1::transport::cuda {
namespace {

using test::group_of;
using test::refusal_of;

geometry device_of(const target_group& group, std::size_t member) {
  return dynamic_cast<const group_geometry&>(*group.settings).of_member(member, group.places());
}

TEST(gpu_factory, reads_counts_and_numbers_of_gpus) {
  EXPECT_EQ(group_of("cuda", "cuda").count, 1U);
  const target_group two = group_of("cuda", "cuda:2/threads=256");
  EXPECT_EQ(two.count, 2U);
  EXPECT_EQ(device_of(two, 1).gpu, 1);
  EXPECT_EQ(device_of(two, 1).warps * device_of(two, 1).lanes, 256U);
  const target_group listed = group_of("cuda", "cuda/blocks=8@0+3");
  EXPECT_EQ(listed.count, 2U) << "one for each that is listed";
  EXPECT_EQ(device_of(listed, 1).gpu, 3);
  EXPECT_EQ(device_of(listed, 1).blocks, 8U);
  EXPECT_TRUE(listed.cores.empty()) << "these are no cores";
  const target_group again = listed.alone(1);
  EXPECT_EQ(device_of(again, again.first_place).gpu, 3) << "what is started again has the same GPU";
  const target_group sharing = group_of("cuda", "cuda:4@0");
  EXPECT_EQ(device_of(sharing, 3).nodes_on_gpu, 4U);
  EXPECT_EQ(device_of(sharing.alone(3), 3).nodes_on_gpu, 4U);
  EXPECT_EQ(group_of("cuda", "cuda:0@1").count, 0U);
}

TEST(gpu_factory, refuses_what_it_does_not_know) {
  EXPECT_NE(refusal_of("cuda", "cuda/lanes=2").find("blocks, threads, linger, watchdog and arena"), std::string::npos);
  EXPECT_NE(refusal_of("cuda", "cuda/threads=48").find("warps of 32"), std::string::npos);
  EXPECT_NE(refusal_of("cuda", "cuda:1:2").find("left over"), std::string::npos);
}

}  // namespace
}  // namespace ham::transport::cuda
