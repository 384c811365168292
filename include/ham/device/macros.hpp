// How functions are marked that run on accelerators as well. Includes nothing.
#pragma once

/// Before a function: it is compiled for the host and, by a compiler for devices (nvcc, hipcc), for the device, too.
/// The host's version runs on nodes that are no accelerators and on emulated ones.
#if defined(__CUDACC__) || defined(__HIPCC__)
#define HAM_DEVICE __host__ __device__
#else
#define HAM_DEVICE
#endif

/// 1 in the pass of such a compiler that makes device code.
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define HAM_DEVICE_CODE 1
#else
#define HAM_DEVICE_CODE 0
#endif
