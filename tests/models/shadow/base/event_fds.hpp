// Stands for src/base/event_fds.hpp in the models.
#pragma once

#include "shadow/kernel.hpp"

namespace ham::inline v1::base {

inline void signal_event(int event, model::place where = model::place::current()) noexcept {
  model::kernel::events[event]->signal(where);
}
inline void drain_event(int event, model::place where = model::place::current()) noexcept {
  model::kernel::events[event]->drain(where);
}

}  // namespace ham::base
