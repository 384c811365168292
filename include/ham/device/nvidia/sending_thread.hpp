// How a thread of an NVIDIA GPU sends messages. Internal. For other compilers than nvcc there is nothing in here.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ham/device/nvidia/kernel.hpp"

#if defined(__CUDA_ARCH__)

namespace ham::inline v1::device::detail {

/// The calling thread of the hardware, with what a lane has for messages.
class sending_thread {
 public:
  __device__ std::uint64_t post(const message_head& head, const std::byte* bytes) const {
    send_kept_replies();
    const running_call& here = this_call();
    hardware_link link;
    const std::uint64_t ticket = take_ticket(*here.sent);
    while (!has_place(link, *here.messages, *here.sent, ticket)) __nanosleep(pause_ns);
    send_message(link, *here.messages, ticket, head, bytes);
    return ticket;
  }
  [[nodiscard]] __device__ std::uint32_t claim_answer() {
    send_kept_replies();
    std::uint32_t slot = claim_answer_slot(*this_call().sent);
    while (slot == no_answer && pause()) slot = claim_answer_slot(*this_call().sent);
    return slot;
  }
  [[nodiscard]] __device__ answer_status take_answer(std::uint32_t slot, std::uint64_t ticket, std::byte* value,
                                                     std::size_t size) const {
    hardware_link link;
    return take_answer_from(link, *this_call().messages, *this_call().sent, slot, ticket, value, size);
  }
  [[nodiscard]] __device__ bool pause() {
    __nanosleep(pause_ns);
    const long long now = clock64();
    if (static_cast<std::uint64_t>(now - asked_at_) < asking_interval) return true;  // it asks if the clock is behind
    asked_at_ = now;
    return !stop_requested();
  }

 private:
  static constexpr unsigned pause_ns = 50;
  static constexpr std::uint64_t asking_interval = 20'000;  // cycles: ten accesses over the link
  long long asked_at_ = clock64();
};

}  // namespace ham::device::detail

#endif
