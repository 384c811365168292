// Calls that can be sent more than once: of pools, and of retry().
#pragma once

#include <exception>

#include "ham/offload/detail/pool_calls.hpp"

namespace ham::inline v1::offload::detail {

/// Sends it. The slot of the call; nullptr: there is no room, and the policy is not to wait. Throws ham::buffer_error
/// if a handle among the arguments is one of a process that has gone, and another one has its number; else as
/// begin_call.
[[nodiscard]] call_slot* send_repeatable(engine& at, const call_place& where, const repeatable_call& call,
                                         when_full policy);

/// For the future of such a call, as long as it is pending: a stop finds the call that it is now, and no other follows.
/// A function that makes it stops it with itself. Throws std::bad_alloc.
void list_repeated(call_slot& future, const repeatable_call& call);
/// It was sent as `call`, which is stopped if the future was meanwhile.
void note_sent(const call_slot& future, const call_slot& call) noexcept;
[[nodiscard]] bool is_stopped(const call_slot& future) noexcept;
/// Of the error of its last repetition: whether it says that the call has not run, which is true of that one only; or
/// it cannot be read, for want of memory.
[[nodiscard]] bool says_not_run(const std::exception_ptr& why) noexcept;
/// Before it settles.
void unlist_repeated(const call_slot& future) noexcept;

}  // namespace ham::offload::detail
