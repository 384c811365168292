// An asymmetric fence: the rare side pays for the order of both sides, the frequent side pays nothing.
#pragma once

#include <atomic>

namespace ham::inline v1::base {

/// Prepares this process to take part in heavy fences of other processes. Idempotent and thread-safe.
/// Returns false where the kernel has no expedited membarrier: this process must then use real fences when it sends.
bool register_heavy_fence() noexcept;

/// Orders the calling thread's earlier stores before its later loads, and forces the same upon every thread of every
/// registered process that runs right now (membarrier, global expedited). Some microseconds. False if it orders the
/// calling thread only, because register_heavy_fence() has failed or the kernel refuses now: a filter of system calls
/// may have been installed since.
bool heavy_fence() noexcept;

/// The same for the threads of this process only (membarrier, private expedited). If register_heavy_fence() was true it
/// succeeds always: where the kernel refuses, it waits until their stores must have become visible, some milliseconds.
void heavy_fence_private() noexcept;

/// The frequent side: stops the compiler only.
inline void light_fence() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }

}  // namespace ham::base
