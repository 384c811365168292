// A function that a GPU executes, called like any other; here the GPU is emulated by threads of its process.
// env: HAM_NODES=cuda-emulated:1,shm:1
// expect: node 1 \(cuda-emulated\): 500500, 4 threads
// expect: node 2 \(cpu\): 500500, 1 threads
#include <ham/device.hpp>
#include <ham/offload.hpp>

#include <iostream>
#include <numeric>
#include <vector>

using namespace ham;

// The threads of one block add the numbers up together.
HAM_DEVICE double sum(offload::buffer_ptr<double> of, std::size_t n, offload::buffer_ptr<double> parts) {
  double own = 0;
  for (std::size_t i = device::rank(); i < n; i += device::size()) own += of[i];
  parts[device::rank()] = own;
  device::sync();
  double result = 0;
  for (std::uint32_t i = 0; i < device::size(); ++i) result += parts[i];
  return result;
}
HAM_DEVICE_FUNCTION(sum, block)

HAM_DEVICE std::uint32_t threads() { return device::size(); }
HAM_DEVICE_FUNCTION(threads, block)

int main() {
  std::vector<double> values(1000);
  std::iota(values.begin(), values.end(), 1.0);
  for (const node_t node : offload::targets()) {
    const offload::buffer<double> numbers{node, values.size()};
    const offload::buffer<double> parts{node, 1024};
    offload::put_sync(values.data(), numbers.ptr(), values.size());
    std::cout << "node " << node << " (" << offload::get_node_descriptor(node).device_type()
              << "): " << offload::sync(node, fn<&sum>, numbers.ptr(), values.size(), parts.ptr()) << ", "
              << offload::sync(node, fn<&threads>) << " threads\n";
  }
}
