// CUDA's errors as people read them; no header of CUDA's, and no device.
#include "transport/cuda/nvidia/cuda_errors.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace ham::inline v1::transport::cuda {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(cuda_errors, say_what_has_happened_and_what_to_do) {
  const std::string text =
      describe_cuda_error(error_number::illegal_address, "an illegal memory access was encountered");
  EXPECT_TRUE(text.starts_with("an illegal memory access was encountered, CUDA error 700 (")) << text;
  EXPECT_TRUE(has(text, "compute-sanitizer")) << text;
  EXPECT_TRUE(has(describe_cuda_error(error_number::launch_failure, "unspecified launch failure"), "trap()"));
  EXPECT_TRUE(has(describe_cuda_error(error_number::memory_allocation, "out of memory"), "no room"));
  EXPECT_TRUE(has(describe_cuda_error(error_number::devices_unavailable, "busy"), "MIG"));
  EXPECT_TRUE(has(describe_cuda_error(error_number::no_kernel_image, "no image"), "CMAKE_CUDA_ARCHITECTURES"));
  EXPECT_TRUE(has(describe_cuda_error(error_number::unknown, "unknown error"), "lost"));
}

TEST(cuda_errors, are_told_apart) {
  std::set<std::string> texts;
  for (const int number : {error_number::insufficient_driver, error_number::no_device, error_number::invalid_device,
                           error_number::memory_allocation, error_number::illegal_address, error_number::launch_failure,
                           error_number::launch_timeout, error_number::assertion, error_number::unknown}) {
    const std::string all = describe_cuda_error(number, "");
    texts.insert(all.substr(all.find('(')));
  }
  EXPECT_EQ(texts.size(), 9U);
}

TEST(cuda_errors, that_are_not_known_keep_their_words) {
  EXPECT_EQ(describe_cuda_error(912, "invalid cluster size"), "invalid cluster size, CUDA error 912");
}

TEST(cuda_errors, versions_are_shown_as_people_write_them) {
  EXPECT_EQ(cuda_version_text(13000), "13.0");
  EXPECT_EQ(cuda_version_text(12080), "12.8");
  EXPECT_EQ(cuda_version_text(0), "none");
}

TEST(cuda_errors, tell_a_missing_driver_from_an_old_one) {
  const int old = error_number::insufficient_driver;
  EXPECT_TRUE(has(why_no_gpu(0, 13000, old, "insufficient"), "there is no driver"));
  const std::string text = why_no_gpu(11040, 13000, old, "insufficient");
  EXPECT_TRUE(has(text, "11.4")) << text;
  EXPECT_TRUE(has(text, "13.0")) << text;
  EXPECT_TRUE(has(why_no_gpu(13000, 13000, error_number::no_device, "no device"), "nvidia-smi -L"));
}

TEST(cuda_errors, know_parts_of_gpus_by_name) {
  EXPECT_TRUE(is_mig_instance("NVIDIA A100-SXM4-40GB MIG 1g.5gb"));
  EXPECT_FALSE(is_mig_instance("NVIDIA H100 80GB HBM3"));
}

}  // namespace
}  // namespace ham::transport::cuda
