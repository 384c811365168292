// Handlers that a process may have no version of: those that run on its device. Internal.
#pragma once

namespace ham::inline v1::msg {

class handler_entry;

/// Whether the process has a version of a handler at this moment.
using presence_function = bool (*)();

/// `present` is asked for this handler from now on; without it a handler is always there. Always true. Any thread.
bool set_presence(const handler_entry& of, presence_function present);
/// Whether the process can execute it: asks what was set. Any thread.
[[nodiscard]] bool runs_here(const handler_entry& one);

}  // namespace ham::msg
