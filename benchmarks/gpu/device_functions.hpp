// The device functions of the benchmark, for both compilers.
#pragma once

#include <ham/device.hpp>

#include <cstdint>

namespace gpu_benchmark_device {

HAM_DEVICE void nothing() noexcept;
HAM_DEVICE std::uint32_t passed_on(std::uint32_t value) noexcept;
/// Has a node answer so many times, one answer after the other; gives how many were right.
HAM_DEVICE std::uint32_t asks(ham::node_t node, std::uint32_t rounds);
HAM_DEVICE void traps(int value);
/// Until it is asked to stop.
HAM_DEVICE std::uint32_t waits(std::uint32_t rounds);

}  // namespace gpu_benchmark_device

HAM_DEVICE_FUNCTION(gpu_benchmark_device::nothing, thread)
HAM_DEVICE_FUNCTION(gpu_benchmark_device::passed_on, thread)
HAM_DEVICE_FUNCTION(gpu_benchmark_device::asks, thread)
HAM_DEVICE_FUNCTION(gpu_benchmark_device::traps, thread)
HAM_DEVICE_FUNCTION(gpu_benchmark_device::waits, thread)
