// What received calls of all types share.
#include "ham/offload/detail/call_message.hpp"

#include <cstddef>
#include <vector>

#include "base/observed_execution.hpp"
#include "core/call_stops.hpp"
#include "core/peer.hpp"
#include "core/thread_state.hpp"
#include "ham/msg/handler_table.hpp"
#include "runtime/engine.hpp"
#include "runtime/executing.hpp"

namespace ham::inline v1::detail {
namespace {

/// Calls that the thread executes for a policy: they count for no node's nesting.
constinit thread_local unsigned kept_calls = 0;

/// It has waited for its thread, and need not begin any more.
[[noreturn]] void throw_stopped(incoming_call& call) {
  call.decoded = true;
  throw operation_cancelled(
      msg::handler_table::local().pretty_name(call.function->key()) + " has not run (it was stopped before it began)",
      call_outcome::not_run);
}

}  // namespace

bool executes_something() noexcept {
  return this_thread.depth != 0 || this_thread.context != nullptr || kept_calls != 0;
}

/// A call with its bytes, for copies.
struct received_call_base::kept {
  explicit kept(const incoming_call& from) : bytes(from.payload.begin(), from.payload.end()) {
    static_cast<incoming_call&>(call) = from;
    if (from.stoppable) call.stop = static_cast<const stoppable_call&>(from).stop;
    call.payload = bytes;
    share_call(call);
    base::observed_execution::leave_to_other(call.call);
  }
  kept(const kept&) = delete;
  kept& operator=(const kept&) = delete;
  ~kept() {
    call.stop.reset();  // behind the next the engine may go
    unshare_call(call);
  }
  stoppable_call call;
  std::vector<std::byte> bytes;
};

received_call_base::received_call_base(const received_call_base& other)
    : call_(nullptr), kept_(new kept(*other.call_)) {
  call_ = &kept_->call;
}

void received_call_base::give_up() noexcept { delete kept_; }

void received_call_base::run(call_body body) {
  if (kept_ != nullptr) {
    run_kept(body);
    return;
  }
  try {
    body(*call_);
  } catch (...) {
    call_failed(*call_);
  }
}

/// On a thread that works for no runtime in particular.
void received_call_base::run_kept(call_body body) {
  ++kept_calls;
  try {
    const engine_scope scope(call_->at);
    call_stop* const stop = kept_->call.stop.get();
    const stop_scope stopped_by(stop);
    if (stop != nullptr && stop->requested()) throw_stopped(*call_);
    const base::trace_kind kind = call_->sink != nullptr ? base::trace_kind::stage : base::trace_kind::executed;
    const base::observed_execution observed(
        {call_->at->self(), call_->from->node, call_->function->key(), call_->call, kind}, &call_->at->counters);
    body(*call_);
  } catch (...) {
    call_failed(*call_);
  }
  --kept_calls;
  call_->at->end_forked_child();
}

void call_failed(incoming_call& call) noexcept {
  if (call.sink != nullptr) [[unlikely]] {
    call.sink->fail();
    return;
  }
  if (!call.decoded) {
    try {
      throw;
    } catch (const protocol_error& problem) {
      reject_call(call, problem.what());
      return;
    } catch (...) {  // of a user's codec
    }
  }
  reply_exception(call);
}

}  // namespace ham::detail
