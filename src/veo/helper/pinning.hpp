// VE_CORE_NUMBER: the cores that a helper's contexts are bound to.
#pragma once

namespace ham::inline v1::veo {

/// Binds the calling thread, and those that it starts, to the core that VE_CORE_NUMBER names, counted among those that
/// the process may use; does nothing if it is not set. Before other threads start. Throws ham::config_error.
void pin_helper();
/// Binds the calling thread, which executes requests of a context, to the next core behind those of earlier contexts,
/// if the helper is bound. The initial thread stays where it is.
void pin_context() noexcept;

}  // namespace ham::veo
