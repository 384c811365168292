// The line of a helper's thread to its host: what kernels call of the host goes through it (VHcall).
#pragma once

#include <optional>

#include "../host_requests.hpp"
#include "ham/offload/detail/reverse_calls.hpp"

namespace ham::inline v1::veo {

/// What requests of the calling thread belong to: 0 is the main context.
void belong_to(context_number context) noexcept;
/// The calling thread, a context's, ends: gives up its line, if it has one.
void hang_up() noexcept;

/// The calling thread's line, opened if need be: where its requests for the host go, and what functions of the host are
/// given as their veos_handle. Throws what offload::sync throws.
struct open_line {
  offload::destination to;
  std::uint64_t handle;
};
[[nodiscard]] const open_line& own_line();

/// Sends a request for the host through the calling thread's line and waits for the answer; other requests to this
/// thread wait meanwhile. Throws what offload::sync throws.
template <class Request, class... Args>
[[nodiscard]] host_answer ask_host(Request what, Args... args) {
  const detail::only_receiving waiting;
  return offload::sync(own_line().to, what, offload::this_node(), args...);
}

/// Whether a library that is loaded here calls functions of the host, or the program was linked with kernels that do.
[[nodiscard]] bool calls_host() noexcept;

}  // namespace ham::veo
