// What a fork() of a process with a runtime means: the job stays the parent's, and the child must not touch it.
#pragma once

#include <string>

namespace ham::detail {

class engine;

/// In a child that this process forks from now on, engine::detach_after_fork is called.
void detach_in_forks(engine& one);
void forget(engine& one) noexcept;

/// In a child that was forked while engines lived: why there is no runtime; empty otherwise.
[[nodiscard]] std::string why_forked_away();

}  // namespace ham::detail
