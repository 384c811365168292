// What the module offers, over a fake CUDA runtime.
#include <gtest/gtest.h>

#include "fake_runtime.hpp"
#include "ham/error.hpp"
#include "transport/cuda/driver_module.hpp"

extern "C" ham::transport::cuda::driver_module* ham_gpu_module(std::uint32_t version);

namespace ham::inline v1::transport::cuda {
namespace {

TEST(gpu_module, is_there_for_libraries_of_its_interface_only) {
  EXPECT_NE(ham_gpu_module(driver_interface), nullptr);
  EXPECT_EQ(ham_gpu_module(driver_interface), ham_gpu_module(driver_interface));
  EXPECT_EQ(ham_gpu_module(driver_interface - 1), nullptr);
  EXPECT_EQ(ham_gpu_module(driver_interface + 1), nullptr);
}

TEST(gpu_module, opens_what_it_has_found) {
  test::fake_gpu gpu;
  driver_module& module = *ham_gpu_module(driver_interface);
  EXPECT_TRUE(module.probe().available);
  EXPECT_STREQ(module.open({}, {nullptr, nullptr, nullptr, nullptr})->type(), "cuda");
  EXPECT_EQ(module.open_memory(std::uint64_t{4} << 20, 1)->arena().bytes, std::uint64_t{4} << 20);
  gpu.gpus = 0;
  EXPECT_FALSE(module.probe().available);
  EXPECT_THROW(static_cast<void>(module.open({}, {nullptr, nullptr, nullptr, nullptr})), config_error);
}

}  // namespace
}  // namespace ham::transport::cuda
