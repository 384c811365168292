#include "runtime/held_call.hpp"

namespace ham::inline v1::detail {

held_call::held_call(const incoming_call& from) {
  static_cast<incoming_call&>(call_) = from;
  if (from.stoppable) call_.stop = static_cast<const stoppable_call&>(from).stop;
  share_call(call_);  // which counts the bytes of its payload: they are not looked at any more
  base::observed_execution::leave_to_other(call_.call);
}

held_call::~held_call() {
  call_.stop.reset();  // behind the next the engine may go
  unshare_call(call_);
}

}  // namespace ham::detail
