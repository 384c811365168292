// Errors of CUDA for people: what has happened, and what to do. Knows the numbers, and needs no header of CUDA's.
#pragma once

#include <string>
#include <string_view>

namespace ham::inline v1::transport::cuda {

/// The numbers that have a meaning of their own here; the driver holds them against CUDA's header.
namespace error_number {
inline constexpr int memory_allocation = 2;
inline constexpr int initialization = 3;
inline constexpr int stub_library = 34;
inline constexpr int insufficient_driver = 35;
inline constexpr int call_requires_newer_driver = 36;
inline constexpr int devices_unavailable = 46;
inline constexpr int invalid_device_function = 98;
inline constexpr int no_device = 100;
inline constexpr int invalid_device = 101;
inline constexpr int device_not_licensed = 102;
inline constexpr int invalid_kernel_image = 200;
inline constexpr int no_kernel_image = 209;
inline constexpr int ecc_uncorrectable = 214;
inline constexpr int invalid_ptx = 218;
inline constexpr int nvlink_uncorrectable = 220;
inline constexpr int unsupported_ptx_version = 222;
inline constexpr int contained = 226;
inline constexpr int illegal_address = 700;
inline constexpr int launch_out_of_resources = 701;
inline constexpr int launch_timeout = 702;
inline constexpr int context_is_destroyed = 709;
inline constexpr int assertion = 710;
inline constexpr int hardware_stack = 714;
inline constexpr int illegal_instruction = 715;
inline constexpr int misaligned_address = 716;
inline constexpr int invalid_address_space = 717;
inline constexpr int invalid_pc = 718;
inline constexpr int launch_failure = 719;
inline constexpr int not_permitted = 800;
inline constexpr int not_supported = 801;
inline constexpr int system_not_ready = 802;
inline constexpr int system_driver_mismatch = 803;
inline constexpr int compat_not_supported = 804;
inline constexpr int mps_connection_failed = 805;
inline constexpr int mps_client_terminated = 810;
inline constexpr int unknown = 999;
}  // namespace error_number

/// "an illegal memory access was encountered, CUDA error 700 (a function has accessed ...); run ... to find it".
/// `words`: what CUDA says itself. Numbers that are not known here have CUDA's words alone.
[[nodiscard]] std::string describe_cuda_error(int number, std::string_view words);

/// A version as CUDA numbers it, 13010, for people: "13.1"; 0: "none".
[[nodiscard]] std::string cuda_version_text(int version);

/// Whether a GPU of that name is a part of one (MIG).
[[nodiscard]] bool is_mig_instance(std::string_view name) noexcept;

/// Why a process finds no GPU that it can use, and what to do. `driver`: the version of the driver, 0: none; `runtime`:
/// of the runtime that asked; `number`: the error that CUDA gave.
[[nodiscard]] std::string why_no_gpu(int driver, int runtime, int number, std::string_view words);

}  // namespace ham::transport::cuda
