// How many calls of groups wait for answers of other nodes.
#pragma once

namespace ham::inline v0::detail {

/// Of all runtimes of this process: those that it passes on or has made.
[[nodiscard]] int group_calls_under_way() noexcept;

}  // namespace ham::detail
