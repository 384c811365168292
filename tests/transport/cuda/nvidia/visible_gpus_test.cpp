// The environment of target processes of GPUs.
#include "transport/cuda/nvidia/visible_gpus.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "ham/error.hpp"

namespace ham::inline v1::transport::cuda {
namespace {

TEST(visible_gpus, own_one_comes_first) {
  EXPECT_TRUE(visible_gpus(nullptr, 0).starts_with("0,1,2,3,"));
  EXPECT_TRUE(visible_gpus(nullptr, 2).starts_with("2,0,1,3,"));
  EXPECT_TRUE(visible_gpus(nullptr, 70).starts_with("70,0,")) << "whether there is one, CUDA knows";
}

TEST(visible_gpus, numbers_count_what_this_process_sees) {
  EXPECT_EQ(visible_gpus("5,GPU-8f3a,7", 1), "GPU-8f3a,5,7");
  EXPECT_EQ(visible_gpus("MIG-1b2c", 0), "MIG-1b2c");
}

TEST(visible_gpus, what_this_process_does_not_see_is_refused) {
  try {
    static_cast<void>(visible_gpus("0,1", 2));
    FAIL() << "there are two";
  } catch (const config_error& problem) {
    EXPECT_NE(std::string(problem.what()).find("CUDA_VISIBLE_DEVICES=0,1 shows 2"), std::string::npos)
        << problem.what();
  }
  EXPECT_THROW(static_cast<void>(visible_gpus("", 0)), config_error);
}

TEST(visible_gpus, code_is_loaded_early) {
  const std::vector<std::string> all = gpu_environment("3", 0);
  EXPECT_EQ(std::ranges::count(all, "CUDA_VISIBLE_DEVICES=3"), 1);
  EXPECT_EQ(std::ranges::count(all, "CUDA_MODULE_LOADING=EAGER"), 1);
}

}  // namespace
}  // namespace ham::transport::cuda
