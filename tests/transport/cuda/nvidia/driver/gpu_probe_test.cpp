// What is found of GPUs, over a fake CUDA runtime.
#include "transport/cuda/nvidia/driver/gpu_probe.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "fake_runtime.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::transport::cuda {
namespace {

using test::fake_gpu;
using test::leaves_an_error;

TEST(gpu_probe, lists_the_gpus_that_the_process_sees) {
  fake_gpu gpu;
  gpu.gpus = 2;
  gpu.driver = 13010;
  const availability found = find_gpus();
  EXPECT_TRUE(found.available);
  EXPECT_EQ(found.remark, "");
  EXPECT_NE(found.version.find("CUDA 13.1; 0: NVIDIA Fake; 1: NVIDIA Fake"), std::string::npos) << found.version;
  gpu.fail("cudaGetDeviceProperties", cudaErrorUnknown);
  EXPECT_EQ(find_gpus().version.find("; 0: "), std::string::npos) << "one that does not answer is left out";
  EXPECT_FALSE(leaves_an_error());
}

TEST(gpu_probe, says_that_there_is_a_part_of_one) {
  fake_gpu gpu;
  std::strcpy(gpu.properties.name, "NVIDIA H100 MIG 1g.10gb");
  EXPECT_NE(find_gpus().remark.find("MIG"), std::string::npos);
}

TEST(gpu_probe, says_why_there_are_none) {
  fake_gpu gpu;
  gpu.fail("cudaGetDeviceCount", cudaErrorNoDevice);
  const availability found = find_gpus();
  EXPECT_FALSE(found.available);
  EXPECT_NE(found.remark.find("no GPU is visible to this process"), std::string::npos) << found.remark;
  EXPECT_FALSE(leaves_an_error());
  gpu.gpus = 0;
  EXPECT_EQ(find_gpus().remark, found.remark) << "a driver that counts none";
  gpu.fail("cudaDriverGetVersion", cudaErrorUnknown);
  EXPECT_NE(find_gpus().remark.find("there is no driver"), std::string::npos);
  EXPECT_FALSE(leaves_an_error());
}

TEST(gpu_probe, describes_one_of_them) {
  fake_gpu gpu;
  gpu.gpus = 2;
  EXPECT_EQ(describe_gpu(1).capability, "9.0");
  EXPECT_THROW(static_cast<void>(describe_gpu(2)), config_error);
  gpu.fail("cudaGetDeviceProperties", cudaErrorUnknown);
  EXPECT_THROW(static_cast<void>(describe_gpu(0)), config_error);
  EXPECT_FALSE(leaves_an_error());
}

}  // namespace
}  // namespace ham::transport::cuda
