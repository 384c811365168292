#include "transport/cuda/nvidia/visible_gpus.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "ham/error.hpp"

namespace ham::inline v1::transport::cuda {
namespace {

/// More than a machine has: CUDA ends the list at the first number that is none.
constexpr int max_gpus = 64;

std::vector<std::string> all_gpus(int at_least) {
  std::vector<std::string> result;
  for (int i = 0; i < std::max(max_gpus, at_least); ++i) result.push_back(std::to_string(i));
  return result;
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    result.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

}  // namespace

std::string visible_gpus(const char* own, int number) {
  const std::vector<std::string> seen = own == nullptr ? all_gpus(number + 1) : split(own);
  const auto wanted = static_cast<std::size_t>(number);
  if (wanted >= seen.size()) {
    throw config_error("there is no GPU " + std::to_string(number) + " (CUDA_VISIBLE_DEVICES=" + own + " shows " +
                       std::to_string(seen.size()) + ", counted from 0); ask for one of these, or change it");
  }
  std::string result = seen[wanted];
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (i != wanted) result += "," + seen[i];
  }
  return result;
}

std::vector<std::string> gpu_environment(const char* own, int number) {
  return {"CUDA_VISIBLE_DEVICES=" + visible_gpus(own, number), "CUDA_MODULE_LOADING=EAGER"};
}

}  // namespace ham::transport::cuda
