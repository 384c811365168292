// The program's handler of events.
#include "ham/offload/event.hpp"

#include <utility>

#include "runtime/engine.hpp"

namespace ham::inline v1::offload {

void on_event(event_handler handler) { ham::detail::current().reports.use(std::move(handler)); }

}  // namespace ham::offload
