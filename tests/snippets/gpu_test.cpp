// docs/gpu.md, with an emulated GPU.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "ham/cuda.hpp"
#include "ham/offload.hpp"

#include "gpu/declaration.inc"

HAM_DEVICE double length(ham::offload::buffer_ptr<float> x, std::size_t n) {
  double squares = 0;
  for (std::size_t i = 0; i < n; ++i) squares += static_cast<double>(x.get()[i]) * static_cast<double>(x.get()[i]);
  return std::sqrt(squares);
}

using namespace ham;

namespace {

/// In place of a function that calls cudaMalloc.
void* allocate(std::size_t bytes) {
  static std::vector<char> memory;
  memory.resize(bytes);
  return memory.data();
}
bool gets_more(std::size_t bytes) {
#include "gpu/while_absent.inc"
  return more != nullptr;
}

}  // namespace

TEST(gpu_page, calls_a_device_function) {
  const node_t gpu = offload::add_node("cuda-emulated:1");
  constexpr std::size_t n = 2;
  const offload::buffer<float> numbers(gpu, n);
  const auto x = numbers.ptr();
  const std::vector<float> sent{3, 4};
  offload::put(sent.data(), x, n).get();
#include "gpu/call.inc"
  EXPECT_EQ(r, 5.0);
  offload::remove_node(gpu);
}

TEST(gpu_page, allocates_while_the_kernel_is_absent) {
  const node_t gpu = offload::add_node("cuda-emulated:1");
  EXPECT_TRUE(offload::sync(
      gpu, [](std::size_t bytes) { return gets_more(bytes); }, std::size_t{1000}));
  offload::remove_node(gpu);
}

TEST(gpu_page, puts_a_pinned_array) {
  const node_t gpu = offload::add_node("cuda-emulated:1");
  constexpr std::size_t n = 1000;
#include "gpu/pinned.inc"
  for (std::size_t i = 0; i < n; ++i) here[i] = static_cast<float>(i);
  offload::put(here, there).get();
  std::vector<float> got(n);
  offload::get(there.ptr(), got.data(), n).get();
  EXPECT_EQ(got[n - 1], static_cast<float>(n - 1));
  offload::remove_node(gpu);
}
