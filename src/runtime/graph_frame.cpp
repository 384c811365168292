// The stop of a replay on a node: how functions that run as its stages learn that nobody wants its result any more.
#include "runtime/graph_frame.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "base/clock.hpp"
#include "core/peer.hpp"
#include "core/thread_state.hpp"
#include "runtime/device_chain.hpp"

namespace ham::inline v1::detail {
namespace {
constexpr std::int64_t ask_interval_ns = 100'000;
}  // namespace

void graph_part::frame::give_up() noexcept {
  stopped.store(true, std::memory_order_relaxed);
  if (!terms.stoppable) return;
  for (stage_run& one : stages) {
    std::shared_ptr<call_stop> runs;
    {
      const std::lock_guard guard(part.lock_);
      runs = one.stop.lock();
    }
    if (runs != nullptr) runs->request();
  }
}

void graph_part::frame::execute(stage_run& stage, const incoming_call& plain, device_chain* chain) {
  auto made =
      std::make_shared<call_stop>(*this, call_stop::origin{&part.at_, &part.at_.own, part.at_.graphs.number_of_stage()},
                                  terms.deadline_ns, nullptr, 0);
  call_stop* const stop = made.get();
  stoppable_call call;
  static_cast<incoming_call&>(call) = plain;
  call.stoppable = true;
  std::shared_ptr<call_stop> listed = part.at_.graphs.stage_stops().begin(made);
  {
    const std::lock_guard guard(part.lock_);
    stage.stop = made;
    ++users;  // of the copies of the call
  }
  call.stop = {stop, [listed = std::move(listed), in = this, of = part.shared_from_this()](call_stop*) mutable {
                 listed.reset();
                 of->leave(*in);
               }};
  if (stopped.load(std::memory_order_relaxed)) stop->request();
  const stop_scope scope(stop);
  try {
    if (chain != nullptr)
      run_on_device(call, std::move(*chain));
    else
      call.function->handler(&call);
  } catch (...) {
    call_failed(call);
  }
}

// ---- stopped_node

/// By any number of threads, which mostly are not the one that receives: then that one is told of the end of the
/// replay, and asking it for its lock each time would only wake it.
void graph_part::frame::receive_stops(bool) noexcept {
  bool over = stopped.load(std::memory_order_relaxed);
  const std::int64_t begun_ns = base::now_ns();
  if (!over && begun_ns < next_ask_ns.load(std::memory_order_relaxed)) return;
  if (!over) {
    {
      const receiving_thread begins_nothing;
      over = part.was_aborted(*this);
    }
    // Continuations that are due run when the function waits, or on another thread.
    if (part.at_.continuations.due()) part.at_.waits.wake();
    const std::int64_t now_ns = base::now_ns();
    next_ask_ns.store(now_ns + std::max(ask_interval_ns, 10 * (now_ns - begun_ns)), std::memory_order_relaxed);
  }
  if (over) give_up();
}

void graph_part::frame::stop_nested(const nested_call& call) noexcept { part.at_.graphs.node().stop_nested(call); }
void graph_part::frame::stop_nested_locked(const nested_call& call) noexcept {
  part.at_.graphs.node().stop_nested_locked(call);
}
void graph_part::frame::count_stoppable(int more) noexcept { part.at_.graphs.node().count_stoppable(more); }
void graph_part::frame::drop_settled(std::vector<nested_call>& calls) noexcept {
  part.at_.graphs.node().drop_settled(calls);
}

}  // namespace ham::detail
