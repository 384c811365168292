// ham::cuda::stream() where there is no GPU.
#include <gtest/gtest.h>

#include <string>

#include "ham/cuda.hpp"
#include "ham/error.hpp"

namespace ham::inline v1 {
namespace {

TEST(cuda_stream, is_refused_outside_of_nodes_with_a_gpu) {
  try {
    static_cast<void>(cuda::stream());
    FAIL() << "this thread executes nothing";
  } catch (const call_error& problem) {
    EXPECT_NE(std::string(problem.what()).find("HAM_NODES=cuda"), std::string::npos) << problem.what();
  }
}

}  // namespace
}  // namespace ham
