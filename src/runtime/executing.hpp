// Whether a thread is inside of something that others may wait for.
#pragma once

namespace ham::inline v1::detail {

/// Whether the calling thread executes a call, under whatever policy, or a continuation.
[[nodiscard]] bool executes_something() noexcept;

}  // namespace ham::detail
