// Finding the driver of real GPUs, on machines with and without it, and with and without a GPU.
#include "transport/cuda/driver_module.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ham::inline v1::transport::cuda {
namespace {

const device::detail::function_entry& no_function(std::uint32_t number) { return device::detail::function_at(number); }

TEST(gpu_driver_module, says_where_it_was_looked_for_or_what_it_finds) {
  availability found;
  try {
    found = load_driver_module().probe();
  } catch (const config_error& problem) {
    EXPECT_NE(std::string(problem.what()).find("libham_cuda.so"), std::string::npos) << problem.what();
    return;
  }
  if (found.available) {
    EXPECT_NE(found.version.find("driver"), std::string::npos) << found.version;
    return;
  }
  EXPECT_NE(found.remark.find("; "), std::string::npos) << "what to do is said: " << found.remark;
  try {
    static_cast<void>(load_driver_module().open(
        {}, {nullptr, &no_function, &device::detail::count_number_variables, &device::detail::number_variable_at}));
    ADD_FAILURE() << "there is no GPU";
  } catch (const config_error& problem) {
    EXPECT_EQ(problem.what(), found.remark);
  }
}

}  // namespace
}  // namespace ham::transport::cuda
