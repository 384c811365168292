#include "transport/cuda/messages.hpp"

#include <gtest/gtest.h>

namespace ham::inline v1::transport::cuda {
namespace {

TEST(cuda_messages, a_welcome_is_sane_if_its_device_can_be) {
  welcome said;
  EXPECT_TRUE(said.sane());
  said.device.blocks = 0;
  EXPECT_FALSE(said.sane());
  said = {};
  said.device.lanes = 100'000;
  EXPECT_FALSE(said.sane());
  said = {};
  said.device = parse_gpu_geometry("");
  EXPECT_TRUE(said.sane());
  said.device.nodes_on_gpu = 0;
  EXPECT_FALSE(said.sane());
}

}  // namespace
}  // namespace ham::transport::cuda
