#include "runtime/device_execution.hpp"

#include <unistd.h>

#include <string>

#include "base/observed_execution.hpp"
#include "core/call_stops.hpp"
#include "core/peer.hpp"
#include "core/thread_state.hpp"
#include "ham/msg/handler_table.hpp"

namespace ham::inline v0::detail {

device_execution::device_execution(const incoming_call& from, const device_request& what, std::uint32_t context)
    : function_(what.function), answer_(what.answer), size_(what.size), context_(context) {
  static_cast<incoming_call&>(call_) = from;
  if (from.stoppable) call_.stop = static_cast<const stoppable_call&>(from).stop;
  share_call(call_);  // which counts the bytes of its payload: they are not looked at any more
  base::observed_execution::leave_to_other(call_.call);
}

device_execution::~device_execution() {
  call_.stop.reset();  // behind the next the engine may go
  unshare_call(call_);
}

std::string device_execution::name() const { return msg::handler_table::local().pretty_name(call_.function->key()); }

bool device_execution::add_reply(const device::detail::reply_slot& reply) {
  if (reply.head.status != device::call_status::done) status_ = reply.head.status;
  if (reply.head.size != 0) result_.assign(reply.result, reply.result + reply.head.size);
  return --replies_missing == 0;
}

void device_execution::answer() noexcept {
  const engine_scope scope(call_.at);
  const base::observed_execution observed({call_.at->self(), call_.from->node, call_.function->key(), call_.call},
                                          &call_.at->counters);
  call_.decoded = true;
  try {
    const std::string where = " on the device of node " + std::to_string(call_.at->self());
    switch (status_) {
      case device::call_status::done:
        result_.resize(function_->row.result_size);
        answer_(call_, result_.data());
        return;
      case device::call_status::no_function:
        throw call_error(name() + " cannot run" + where +
                         " (that has no version of it); compile the source that declares it for the device, too");
      case device::call_status::wrong_size:
        throw call_error(name() + " cannot run" + where + " (its arguments did not arrive as it reads them)");
      case device::call_status::threw: break;
    }
    throw call_error(name() + " has thrown an exception" + where +
                     " (exceptions do not leave devices); have it return what is wrong");
  } catch (...) {
    call_failed(call_);
  }
}

void device_execution::fail(const std::string& why, bool may_have_run) noexcept {
  const engine_scope scope(call_.at);
  call_.decoded = true;
  try {
    node_failure::details what;
    what.node = call_.at->self();
    what.pid = ::getpid();
    what.function = name();
    what.call = call_.call;
    what.outcome = may_have_run ? call_outcome::may_have_run : call_outcome::not_run;
    throw node_failure("node " + std::to_string(what.node) + " failed: " + why, what);
  } catch (...) {
    call_failed(call_);
  }
}

}  // namespace ham::detail
