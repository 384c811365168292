// Where a device function runs: by how many threads, which of them is the calling one, whether it is to stop.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ham/device/outbox.hpp"

namespace ham::inline v1::device {

/// Who executes a call of a device function together. What the thread of rank 0 returns is the result.
enum class scope : std::uint8_t {
  thread,  ///< one thread
  warp,    ///< the threads of one warp
  block,   ///< those of one block
  grid,    ///< all threads of the resident kernel
};

namespace detail {

/// One thread of a device, as functions that it executes see it. Emulated devices implement it with threads of the
/// host; in device code there are the hardware's registers in its place.
class lane {
 public:
  [[nodiscard]] virtual std::uint32_t rank() const noexcept = 0;
  [[nodiscard]] virtual std::uint32_t size() const noexcept = 0;
  /// Waits for the other threads that execute the same call.
  virtual void sync() = 0;
  [[nodiscard]] virtual bool stop_requested() noexcept = 0;
  /// A fault of the device. Does not return.
  [[noreturn]] virtual void trap(const char* why) = 0;
  /// Sends a message to the process of the device, and gives its ticket (outbox.hpp); waits while the queue is full.
  virtual std::uint64_t post(const message_head& head, const std::byte* bytes) = 0;
  /// A slot for the answer to a message; waits for one. no_answer: there is none, and the call is to stop.
  [[nodiscard]] virtual std::uint32_t claim_answer() = 0;
  /// Of the message with that ticket.
  [[nodiscard]] virtual answer_status take_answer(std::uint32_t slot, std::uint64_t ticket, std::byte* value,
                                                  std::size_t size) = 0;
  /// Nobody awaits the answer in that slot any more.
  virtual void drop_answer(std::uint32_t slot) noexcept = 0;
  /// Passes some time. False: the call is to stop; that is asked now and then.
  [[nodiscard]] virtual bool pause() = 0;

 protected:
  ~lane() = default;
};

/// The one that the calling thread of the host is; nullptr: none.
[[nodiscard]] lane*& this_lane() noexcept;
/// Whether the call that the calling thread of a processor executes is to stop.
[[nodiscard]] bool stop_requested_of_processor() noexcept;

}  // namespace detail
}  // namespace ham::device

#if defined(__CUDACC__)
#include "ham/device/nvidia/running_call.hpp"
#elif defined(__HIPCC__)
#error "ham: functions for AMD's GPUs cannot be compiled yet; docs/gpu.md says what they would need"
#endif

namespace ham::inline v1::device {

/// Of the threads that execute the call of the calling thread: its number, from 0, and how many they are. On a node
/// that is no accelerator: 0 and 1.
[[nodiscard]] HAM_DEVICE inline std::uint32_t rank() noexcept {
#if HAM_DEVICE_CODE
  return detail::rank_in_call();
#else
  const detail::lane* const here = detail::this_lane();
  return here == nullptr ? 0 : here->rank();
#endif
}

[[nodiscard]] HAM_DEVICE inline std::uint32_t size() noexcept {
#if HAM_DEVICE_CODE
  return detail::size_of_call();
#else
  const detail::lane* const here = detail::this_lane();
  return here == nullptr ? 1 : here->size();
#endif
}

/// Waits until all threads that execute the call are here, and sees what they have written. All of them call it equally
/// often, or none.
HAM_DEVICE inline void sync() {
#if HAM_DEVICE_CODE
  detail::sync_call();
#else
  if (detail::lane* const here = detail::this_lane()) here->sync();
#endif
}

/// Whether the caller wants the function to stop: its future, its token or its deadline says so. Once true it stays
/// true for the call. On a GPU it costs one access over the link, so a function asks now and then, not for every
/// element. On a node that is no accelerator it is what this_call::stop_token() says.
[[nodiscard]] HAM_DEVICE inline bool stop_requested() noexcept {
#if HAM_DEVICE_CODE
  return detail::call_is_to_stop();
#else
  detail::lane* const here = detail::this_lane();
  return here != nullptr ? here->stop_requested() : detail::stop_requested_of_processor();
#endif
}

/// Ends the target process as a fault of the device does: its callers get ham::node_failure with the function's name.
/// On a node that is no accelerator: ends the process by abort().
[[noreturn]] HAM_DEVICE inline void trap([[maybe_unused]] const char* why = "the function has called trap()") {
#if HAM_DEVICE_CODE
  detail::trap_device(why);
#else
  if (detail::lane* const here = detail::this_lane()) here->trap(why);
  __builtin_abort();
#endif
}

}  // namespace ham::device
