// What a fork() of a process with a runtime means: the job stays the parent's, and the child must not touch it.
#pragma once

#include <cstdint>
#include <string>

namespace ham::inline v1::detail {

class engine;

/// In a child that this process forks from now on, engine::detach_after_fork is called.
void detach_in_forks(engine& one);
void forget(engine& one) noexcept;
/// The runtime of that number, or nullptr. It may end at any time (held_engine).
[[nodiscard]] engine* find_engine(std::uint64_t serial) noexcept;

/// In a child that was forked while engines lived: why there is no runtime; empty otherwise.
[[nodiscard]] std::string why_forked_away();

}  // namespace ham::detail
