// The program that this process runs: how to start it once more, and what processes of it are called.
#pragma once

#include <string>

#include "ham/error.hpp"

namespace ham::inline v1::base {

/// The kernel's name for this very program: also right after it was replaced, moved, or found in PATH.
inline constexpr const char* own_program_link = "/proc/self/exe";

/// What to execute to start this program once more: own_program_link, or its file where the link is that of something
/// in front of it (valgrind, or the loader run by hand).
[[nodiscard]] std::string own_program();

/// Whether a new process of this program has this library from its start. It does not if the program has loaded it
/// later, as an interpreter does.
[[nodiscard]] bool own_program_has_library() noexcept;

/// Throws ham::config_error if a new process of this program would not become a target, with what to do instead.
void expect_own_program_to_join();

/// What a target is called in lists of processes, like "app:ham1"; `program` is cut so that there are at most
/// `max_bytes` bytes.
[[nodiscard]] std::string target_name(const std::string& program, node_t node,
                                      std::size_t max_bytes = std::string::npos);
/// The name of this program's file, without its folder.
[[nodiscard]] std::string own_program_name();

/// Names this process for ps, top and gdb as target `node`.
void name_this_target(node_t node) noexcept;

}  // namespace ham::base
