// Programs with rights that whoever started them lacks: what their environment says is another user's wish.
#pragma once

#include <string>

namespace ham::inline v1::base {

/// Whether the kernel started this program with such rights (setuid, setgid, file capabilities: AT_SECURE). It stays so
/// after the rights have been given up.
[[nodiscard]] bool privileged() noexcept;

/// Throws ham::config_error in a privileged program; `what` is what it must not do: "HAM_MODULE_PATH is set".
void refuse_if_privileged(const std::string& what);

/// Whether nobody but root can put another file in the place of this one: it and all folders above belong to root, and
/// nobody else may write to them. No component of `path` may be a symbolic link (realpath(3)).
[[nodiscard]] bool only_root_can_replace(const std::string& path);

}  // namespace ham::base
