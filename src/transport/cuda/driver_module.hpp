// The module with the driver of real GPUs, libham_cuda.so: what the library and it share.
#pragma once

#include <cstdint>
#include <memory>

#include "ham/device/device_code.hpp"
#include "ham/device/mailbox.hpp"
#include "ham/device/offloading.hpp"
#include "transport/device.hpp"
#include "transport/factory.hpp"

namespace ham::inline v1::transport::cuda {

/// What the process has for its GPU. The module has no access to the library but by these.
struct gpu_program {
  const device::detail::device_code* code;  ///< nullptr: none; then device functions are refused
  const device::detail::function_entry& (*function_at)(std::uint32_t number);
  // Variables of the device for the numbers of functions of the host.
  std::uint32_t (*count_number_variables)();
  device::detail::number_variable (*number_variable_at)(std::uint32_t index);
};

/// What of a GPU the resident kernel takes.
struct kernel_size {
  std::uint32_t blocks = 0;  ///< 0: 4, or as many as fit; more than fit at once are never launched
  std::uint32_t threads = 128;
};

/// What the module offers.
class driver_module {
 public:
  virtual ~driver_module() = default;
  /// Whether there are GPUs, why not and what to do. Does not throw. Initialises CUDA in this process.
  [[nodiscard]] virtual availability probe() const = 0;
  /// The first GPU that this process sees. The process uses it from then on. Throws ham::config_error.
  [[nodiscard]] virtual std::unique_ptr<device_driver> open(kernel_size size, gpu_program program) = 0;
  /// Its memory, after open() and before the kernel is first launched: so many bytes, or (0) the arena_share() of one
  /// of so many nodes. Throws ham::config_error.
  [[nodiscard]] virtual std::unique_ptr<device_memory> open_memory(std::uint64_t bytes, std::uint32_t nodes_on_gpu) = 0;
};

/// Changes when anything changes that a module and the library share, or with the queues, to which both have pointers.
inline constexpr std::uint32_t driver_interface = 7U << 16U | device::detail::queue_layout;

/// The function that the module exports under the name "ham_gpu_module". nullptr: another interface than asked for.
using driver_module_entry = driver_module* (*)(std::uint32_t interface_version);

/// The module, loaded once and kept; looked for as transport/common/module_file.hpp says. Throws ham::config_error that
/// says where it was looked for. Any thread.
[[nodiscard]] driver_module& load_driver_module();

}  // namespace ham::transport::cuda
