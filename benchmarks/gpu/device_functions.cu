#include "device_functions.hpp"

namespace gpu_benchmark_device {

std::uint32_t same_number(std::uint32_t value) { return value; }

HAM_DEVICE void nothing() noexcept {}

HAM_DEVICE std::uint32_t passed_on(std::uint32_t value) noexcept { return value; }

HAM_DEVICE std::uint32_t asks(ham::node_t node, std::uint32_t rounds) {
  std::uint32_t right = 0;
  for (std::uint32_t i = 0; i < rounds; ++i) {
    std::uint32_t value = rounds;
    auto answer = ham::device::async<&same_number>(node, i);
    if (answer.get(value) && value == i) ++right;
  }
  return right;
}

HAM_DEVICE void traps(int) { ham::device::trap("as asked"); }

HAM_DEVICE std::uint32_t waits(std::uint32_t rounds) {
  while (!ham::device::stop_requested()) ++rounds;
  return rounds;
}

}  // namespace gpu_benchmark_device
