#include "transport/cuda/nvidia/driver/gpu_probe.hpp"

#include <algorithm>
#include <fstream>
#include <string>

#include "transport/cuda/nvidia/driver/cuda_check.hpp"

namespace ham::inline v1::transport::cuda {
namespace {

int driver_version() {
  int version = 0;
  if (cudaDriverGetVersion(&version) == cudaSuccess) return version;
  static_cast<void>(cudaGetLastError());  // the next call is not to be blamed for it
  return 0;
}

/// "580.65.06, CUDA 13.0"
std::string driver_text() {
  std::ifstream file("/sys/module/nvidia/version");
  std::string text;
  std::getline(file, text);
  return text + (text.empty() ? "CUDA " : ", CUDA ") + cuda_version_text(driver_version());
}

/// How many this process sees; 0 with the reason.
int count_gpus(std::string& why_not) {
  int count = 0;
  const cudaError_t result = cudaGetDeviceCount(&count);
  static_cast<void>(cudaGetLastError());
  if (result == cudaSuccess && count > 0) return count;
  const cudaError_t error = result == cudaSuccess ? cudaErrorNoDevice : result;
  why_not = why_no_gpu(driver_version(), CUDART_VERSION, error, cudaGetErrorString(error));
  return 0;
}

}  // namespace

availability find_gpus() {
  std::string why_not;
  const int count = count_gpus(why_not);
  if (count == 0) return {false, why_not, {}};
  availability result;
  result.version = "driver " + driver_text();
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp one{};
    if (cudaGetDeviceProperties(&one, i) != cudaSuccess) {
      static_cast<void>(cudaGetLastError());
      continue;
    }
    result.version += "; " + std::to_string(i) + ": " + one.name;
    if (is_mig_instance(one.name)) result.remark = "a part of a GPU (MIG): a process sees one such part only";
  }
  return result;
}

device_description describe_gpu(int number) {
  std::string why_not;
  const int count = count_gpus(why_not);
  if (count == 0) throw config_error(why_not);
  if (number >= count) throw config_error(describe(cudaErrorInvalidDevice));
  cudaDeviceProp of{};
  check(cudaGetDeviceProperties(&of, number), "properties of the GPU");
  return {of.name, std::to_string(of.major) + "." + std::to_string(of.minor), driver_text(),
          static_cast<std::uint32_t>(of.multiProcessorCount), of.totalGlobalMem};
}

// The numbers that the library knows without CUDA's header.
static_assert(error_number::memory_allocation == cudaErrorMemoryAllocation &&
              error_number::initialization == cudaErrorInitializationError &&
              error_number::stub_library == cudaErrorStubLibrary &&
              error_number::insufficient_driver == cudaErrorInsufficientDriver &&
              error_number::call_requires_newer_driver == cudaErrorCallRequiresNewerDriver &&
              error_number::devices_unavailable == cudaErrorDevicesUnavailable &&
              error_number::invalid_device_function == cudaErrorInvalidDeviceFunction &&
              error_number::no_device == cudaErrorNoDevice && error_number::invalid_device == cudaErrorInvalidDevice &&
              error_number::device_not_licensed == cudaErrorDeviceNotLicensed);
static_assert(error_number::invalid_kernel_image == cudaErrorInvalidKernelImage &&
              error_number::no_kernel_image == cudaErrorNoKernelImageForDevice &&
              error_number::ecc_uncorrectable == cudaErrorECCUncorrectable &&
              error_number::invalid_ptx == cudaErrorInvalidPtx &&
              error_number::nvlink_uncorrectable == cudaErrorNvlinkUncorrectable &&
              error_number::unsupported_ptx_version == cudaErrorUnsupportedPtxVersion &&
              error_number::contained == cudaErrorContained);
static_assert(error_number::illegal_address == cudaErrorIllegalAddress &&
              error_number::launch_out_of_resources == cudaErrorLaunchOutOfResources &&
              error_number::launch_timeout == cudaErrorLaunchTimeout &&
              error_number::context_is_destroyed == cudaErrorContextIsDestroyed &&
              error_number::assertion == cudaErrorAssert &&
              error_number::hardware_stack == cudaErrorHardwareStackError &&
              error_number::illegal_instruction == cudaErrorIllegalInstruction &&
              error_number::misaligned_address == cudaErrorMisalignedAddress &&
              error_number::invalid_address_space == cudaErrorInvalidAddressSpace &&
              error_number::invalid_pc == cudaErrorInvalidPc && error_number::launch_failure == cudaErrorLaunchFailure);
static_assert(error_number::not_permitted == cudaErrorNotPermitted &&
              error_number::not_supported == cudaErrorNotSupported &&
              error_number::system_not_ready == cudaErrorSystemNotReady &&
              error_number::system_driver_mismatch == cudaErrorSystemDriverMismatch &&
              error_number::compat_not_supported == cudaErrorCompatNotSupportedOnDevice &&
              error_number::mps_connection_failed == cudaErrorMpsConnectionFailed &&
              error_number::mps_client_terminated == cudaErrorMpsClientTerminated &&
              error_number::unknown == cudaErrorUnknown);

}  // namespace ham::transport::cuda
