// Calls that can be sent more than once: of pools, and of retry().
#pragma once

#include "ham/offload/detail/pool_calls.hpp"

namespace ham::inline v1::offload::detail {

/// Sends it. The slot of the call; nullptr: there is no room, and the policy is not to wait. Throws ham::buffer_error
/// if a handle among the arguments is one of a process that has gone, and another one has its number; else as
/// begin_call.
[[nodiscard]] call_slot* send_repeatable(engine& at, const call_place& where, const repeatable_call& call,
                                         when_full policy);

}  // namespace ham::offload::detail
