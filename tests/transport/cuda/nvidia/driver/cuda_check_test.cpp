// Errors of CUDA's runtime as errors of HAM's.
#include "transport/cuda/nvidia/driver/cuda_check.hpp"

#include <gtest/gtest.h>

#include "fake_runtime.hpp"

namespace ham::inline v1::transport::cuda {
namespace {

TEST(cuda_check, throws_what_cuda_says_and_forgets_it) {
  test::fake_gpu gpu;
  check(cudaSuccess, "nothing");
  gpu.fail("cudaSetDevice", cudaErrorMemoryAllocation);
  try {
    check(cudaSetDevice(0), "the GPU");
    ADD_FAILURE() << "it has failed";
  } catch (const config_error& problem) {
    EXPECT_TRUE(std::string(problem.what()).starts_with("the GPU: out of memory, CUDA error 2 (")) << problem.what();
  }
  EXPECT_FALSE(test::leaves_an_error()) << "the next call is not to be blamed for it";
}

}  // namespace
}  // namespace ham::transport::cuda
