// The entry point of the module: the one function that the library resolves in it.
#include "transport/cuda/nvidia/driver/cuda_device.hpp"
#include "transport/cuda/nvidia/driver/cuda_memory.hpp"
#include "transport/cuda/nvidia/driver/gpu_probe.hpp"

namespace ham::inline v1::transport::cuda {
namespace {

class cuda_module final : public driver_module {
 public:
  [[nodiscard]] availability probe() const override {
    return found_by([] { return find_gpus(); });
  }
  [[nodiscard]] std::unique_ptr<device_driver> open(kernel_size size, gpu_program program) override {
    return make_cuda_device(size, program);
  }
  [[nodiscard]] std::unique_ptr<device_memory> open_memory(std::uint64_t bytes, std::uint32_t nodes_on_gpu) override {
    return make_cuda_memory(bytes, nodes_on_gpu);
  }
};

}  // namespace
}  // namespace ham::transport::cuda

extern "C" [[gnu::visibility("default")]] ham::transport::cuda::driver_module* ham_gpu_module(std::uint32_t version) {
  static ham::transport::cuda::cuda_module module;
  return version == ham::transport::cuda::driver_interface ? &module : nullptr;
}
