// Many calls of one device function for one received call.
#include <array>
#include <atomic>
#include <exception>
#include <mutex>
#include <utility>

#include "base/clock.hpp"
#include "core/call_stops.hpp"
#include "ham/device/offloading.hpp"
#include "ham/error.hpp"
#include "ham/offload/supervise.hpp"
#include "runtime/contexts.hpp"
#include "runtime/device_calls.hpp"
#include "runtime/held_call.hpp"

namespace ham::inline v1::detail {

/// One of the calls that are under way at a time; the next one takes its place.
struct device_series::element final : result_sink {
  [[nodiscard]] std::byte* begin(std::size_t /*size*/) override { return nullptr; }  // take() has the result before
  void finish() noexcept override {}
  void fail() noexcept override {
    try {
      throw;
    } catch (const operation_cancelled&) {
      of->note_stop();  // the element has not run; others of the chunk may have
    } catch (const deadline_exceeded&) {
      of->note_stop();
    } catch (...) {
      of->note_failure();
    }
    ended();
  }
  void ended() noexcept {
    device_series& series = *of;
    series.begin_next(*this);
    series.leave();
  }

  static void write(std::byte* to, const void* self) {
    const auto& one = *static_cast<const element*>(self);
    one.of->write(to, one.at);
  }
  static void answer(incoming_call& call, const std::byte* result) {
    auto& one = *static_cast<element*>(call.sink);
    one.of->take(one.at, result);
    this_call::heartbeat();  // the chunk is one call, which may take long
    one.ended();
  }

  device_series* of = nullptr;
  std::size_t at = 0;
};

struct device_series::state {
  state(const incoming_call& call, const device::detail::function_entry& which, std::size_t elements)
      : held(call), function(which), count(elements), context(contexts::of_call()) {}

  held_call held;
  const device::detail::function_entry& function;
  const std::size_t count;
  const std::uint32_t context;            ///< of all its calls, whoever begins them
  std::mutex order;                       ///< held while a call is begun: they begin one after the other
  std::size_t next = 0;                   ///< guarded by it
  std::atomic<std::size_t> under_way{1};  ///< and who starts it
  std::mutex mutex;                       ///< guards failure
  std::exception_ptr failure;
  std::atomic<bool> failed{false};
  std::array<element, 2 * device::detail::queue_slots> window;
};

device_series::device_series(const incoming_call& call, const device::detail::function_entry& function,
                             std::size_t count)
    : state_(new state(call, function, count)) {
  for (element& one : state_->window) one.of = this;
}

device_series::~device_series() { delete state_; }

void device_series::start() noexcept {
  for (element& one : state_->window) begin_next(one);
  leave();
}

void device_series::begin_next(element& in) noexcept {
  std::unique_lock order(state_->order);
  if (state_->failed.load(std::memory_order_acquire) || state_->next == state_->count) return;
  const std::size_t at = state_->next++;
  in.at = at;
  state_->under_way.fetch_add(1, std::memory_order_relaxed);
  try {
    stoppable_call one = state_->held.call();
    if (one.stop != nullptr && one.stop->requested()) throw_stopped();
    if (!wants_reply(one)) one.call = 0;  // the sink waits in any case
    one.payload = {};
    one.batch = nullptr;
    one.sink = &in;
    run_on_device(one, {&state_->function, size_of(at), &element::write, &in, &element::answer}, state_->context);
  } catch (...) {
    note_failure();
    order.unlock();
    leave();
  }
}

/// Its deadline counts as the reason once it has passed.
void device_series::throw_stopped() const {
  const call_stop* const stop = state_->held.call().stop.get();
  if (stop != nullptr && stop->deadline_ns() <= base::now_ns())
    throw deadline_exceeded("a map has not executed all of a chunk before its deadline", call_outcome::may_have_run);
  throw operation_cancelled("a map was stopped before all of a chunk was executed", call_outcome::may_have_run);
}

void device_series::note_stop() noexcept {
  try {
    throw_stopped();
  } catch (...) {
    note_failure();
  }
}

void device_series::note_failure() noexcept {
  const std::lock_guard guard(state_->mutex);
  if (state_->failure == nullptr) state_->failure = std::current_exception();
  state_->failed.store(true, std::memory_order_release);
}

void device_series::leave() noexcept {
  if (state_->under_way.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  state_->held.answer([this](incoming_call& call) {
    if (state_->failure != nullptr) std::rethrow_exception(state_->failure);
    reply(call);
  });
  delete this;
}

}  // namespace ham::detail
