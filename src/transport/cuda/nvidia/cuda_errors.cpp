#include "transport/cuda/nvidia/cuda_errors.hpp"

#include <algorithm>
#include <array>

namespace ham::inline v1::transport::cuda {
namespace {

using namespace error_number;

struct known_error {
  int number;
  const char* meaning;
  const char* advice;
};
constexpr const char* find_access = "run the target under compute-sanitizer to find the access";
constexpr const char* find_fault = "run the target under compute-sanitizer or cuda-gdb to find it";
constexpr const char* build_for = "compile the application for this GPU as well (CMAKE_CUDA_ARCHITECTURES)";
constexpr const char* renew_driver = "install a newer driver, or build with an older CUDA";
constexpr const char* look_at_gpu = "look at nvidia-smi and the kernel's log (Xid); reset or replace the GPU";
constexpr const char* free_gpu = "look at nvidia-smi -q -d COMPUTE and at who uses the GPU";
constexpr const char* restart_mps = "look at the MPS daemon, or end it";

constexpr std::array known{
    known_error{memory_allocation, "the GPU, or the host's memory that it reaches, has no room left",
                "free memory, or use a GPU with more; nvidia-smi shows who has it"},
    known_error{initialization, "the driver cannot be used in this process",
                "look at nvidia-smi; a process that was forked after CUDA was used cannot use it again"},
    known_error{stub_library, "the library of the driver is a stub for linking",
                "take the folder stubs out of LD_LIBRARY_PATH"},
    known_error{insufficient_driver, "the driver is older than CUDA, or there is none", renew_driver},
    known_error{call_requires_newer_driver, "the driver is older than a function that was called", renew_driver},
    known_error{
        devices_unavailable, "the GPU is used exclusively by another process, or divided (MIG) and named as a whole",
        "look at nvidia-smi -q -d COMPUTE; of a divided GPU name an instance in CUDA_VISIBLE_DEVICES (MIG-...)"},
    known_error{invalid_device_function, "the kernel has no code for this GPU", build_for},
    known_error{
        no_device, "no GPU is visible to this process",
        "look at nvidia-smi -L and CUDA_VISIBLE_DEVICES; of a divided GPU (MIG) an instance must be made first"},
    known_error{invalid_device, "there is no GPU of that number", "look at nvidia-smi -L and CUDA_VISIBLE_DEVICES"},
    known_error{device_not_licensed, "the virtual GPU has no licence", "look at nvidia-smi -q"},
    known_error{invalid_kernel_image, "the application's code for GPUs cannot be read", build_for},
    known_error{no_kernel_image, "the application has no code for this GPU", build_for},
    known_error{ecc_uncorrectable, "memory of the GPU is damaged", look_at_gpu},
    known_error{invalid_ptx, "the driver cannot compile the application's code", build_for},
    known_error{nvlink_uncorrectable, "a link between GPUs has failed", look_at_gpu},
    known_error{unsupported_ptx_version, "the application's code is newer than the driver", renew_driver},
    known_error{contained, "memory of the GPU is damaged, and this process was using it", look_at_gpu},
    known_error{illegal_address, "a function has accessed memory that is not there", find_access},
    known_error{launch_out_of_resources, "the resident kernel does not fit",
                "ask for fewer threads in HAM_NODES, or compile with --maxrregcount"},
    known_error{launch_timeout, "the GPU drives a display, and no kernel may run for long there",
                "use a GPU without a display"},
    known_error{context_is_destroyed, "something in the process has ended its use of the GPU",
                "do not call cudaDeviceReset"},
    known_error{assertion, "an assert of a function has failed", "the target's stderr has the line"},
    known_error{hardware_stack, "a function has used up its stack, or overwritten it", find_fault},
    known_error{illegal_instruction, "a function has executed what is no instruction", find_fault},
    known_error{misaligned_address, "a function has accessed a value at an address that it cannot have", find_access},
    known_error{invalid_address_space, "a function has taken memory for another kind of memory", find_access},
    known_error{invalid_pc, "a function has jumped to where no code is", find_fault},
    known_error{launch_failure, "a function has called trap(), or failed in a way that the GPU does not name",
                find_fault},
    known_error{not_permitted, "the driver does not allow it", free_gpu},
    known_error{not_supported, "this GPU, or its driver, cannot do it", "use another GPU, or a newer driver"},
    known_error{system_not_ready, "the machine's services for GPUs are not up",
                "start nvidia-fabricmanager, or nvidia-persistenced"},
    known_error{system_driver_mismatch, "the parts of the driver are of different versions",
                "restart the machine, or load the driver's module again"},
    known_error{compat_not_supported, "CUDA's compatibility package does not serve this GPU",
                "take cuda-compat out of LD_LIBRARY_PATH"},
    known_error{mps_connection_failed, "the MPS daemon cannot be reached", restart_mps},
    known_error{mps_client_terminated, "the MPS daemon has ended this process's use of the GPU", restart_mps},
    known_error{unknown, "the GPU may be lost: off the bus, or hung", look_at_gpu},
};

}  // namespace

std::string describe_cuda_error(int number, std::string_view words) {
  std::string result = std::string(words) + ", CUDA error " + std::to_string(number);
  const auto found = std::ranges::find(known, number, &known_error::number);
  if (found == known.end()) return result;
  return result + " (" + found->meaning + "); " + found->advice;
}

std::string cuda_version_text(int version) {
  constexpr int major = 1000;
  constexpr int minor = 10;
  if (version <= 0) return "none";
  return std::to_string(version / major) + "." + std::to_string(version % major / minor);
}

bool is_mig_instance(std::string_view name) noexcept { return name.find(" MIG ") != std::string_view::npos; }

std::string why_no_gpu(int driver, int runtime, int number, std::string_view words) {
  if (driver == 0) {
    return "there is no driver for GPUs of NVIDIA's (libcuda.so.1 cannot be used); install one, or start the container "
           "with GPUs (--gpus all)";
  }
  if (number == insufficient_driver) {
    return "the driver is too old (it serves CUDA " + cuda_version_text(driver) + ", this module is built with " +
           cuda_version_text(runtime) + "); " + renew_driver;
  }
  return describe_cuda_error(number, words);
}

}  // namespace ham::transport::cuda
