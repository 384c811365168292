// cuda-emulated in HAM_NODES and HAM_TARGET.
#include <gtest/gtest.h>

#include "transport/cuda/settings.hpp"
#include "transport/groups.hpp"
#include "transport/starting.hpp"

namespace ham::inline v1::transport::cuda {
namespace {

using test::group_of;
using test::refusal_of;

const geometry& device_of(const target_group& group) { return dynamic_cast<const group_geometry&>(*group.settings).of; }

TEST(cuda_factory, reads_the_size_of_the_device_and_its_link) {
  const target_group plain = group_of("cuda-emulated", "cuda-emulated");
  EXPECT_EQ(plain.count, 1U);
  EXPECT_EQ(device_of(plain).blocks, geometry{}.blocks);
  const target_group group = group_of("cuda-emulated", "cuda-emulated:2/blocks=4/read=900@1+2");
  EXPECT_EQ(group.count, 2U);
  EXPECT_EQ(group.cores, (std::vector<int>{1, 2}));
  EXPECT_EQ(device_of(group).blocks, 4U);
  EXPECT_EQ(device_of(group).read_ns, 900);
}

TEST(cuda_factory, refuses_what_it_does_not_know) {
  EXPECT_NE(refusal_of("cuda-emulated", "cuda-emulated/blocs=1").find("blocs"), std::string::npos);
  EXPECT_NE(refusal_of("cuda-emulated", "cuda-emulated:1:2").find("left over"), std::string::npos);
  EXPECT_NE(refusal_of("cuda-emulated", "cuda-emulated:x").find("must follow the colon"), std::string::npos);
}

TEST(cuda_factory, takes_a_descriptor_from_its_host) {
  const starting_factory& by = *test::transport_named("cuda-emulated").as_starting();
  EXPECT_TRUE(by.starts_own_program());
  EXPECT_FALSE(by.starts_programs());
  EXPECT_THROW(static_cast<void>(by.make_target("none")), config_error);
  EXPECT_EQ(by.make_called_target(0), nullptr);
}

}  // namespace
}  // namespace ham::transport::cuda
