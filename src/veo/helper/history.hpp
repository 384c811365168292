// Results of the requests that a thread has executed, for veo_prev_req_result.
#pragma once

#include <cstdint>

namespace ham::inline v1::veo {

/// The calling thread's newest request had this result.
void remember_result(std::uint64_t value) noexcept;
/// The calling thread's newest requests had none.
void remember_none(std::uint32_t requests) noexcept;

}  // namespace ham::veo
