// When the resident kernel of a node's device comes and goes, and what is done while it is away.
#include <algorithm>
#include <chrono>
#include <exception>
#include <mutex>
#include <string>
#include <utility>

#include "base/backoff.hpp"
#include "base/clock.hpp"
#include "base/own_counters.hpp"
#include "core/call_stops.hpp"
#include "core/thread_state.hpp"
#include "ham/cuda.hpp"
#include "ham/error.hpp"
#include "runtime/device_calls.hpp"
#include "runtime/device_heap.hpp"
#include "runtime/device_polling.hpp"

namespace ham::inline v1::detail {
namespace {

namespace wire = device::detail;
using transport::residency;
using device_state = base::counter_head::device_state;

/// While functions of the host have the device to themselves: whether callers want what waits to stop.
constexpr std::chrono::milliseconds time_between_asking_calls{1};

}  // namespace

void device_calls::launch() {
  const std::uint32_t functions = wire::count_functions();
  if (functions != uploaded_) driver_->upload(functions);
  uploaded_ = functions;
  leaving_ = false;
  absent_ = false;
  in_queues_ -= given_up_;
  calls_on_devices.fetch_sub(static_cast<std::uint32_t>(std::exchange(given_up_, 0)), std::memory_order_relaxed);
  for (const queue& one : queues_) {
    for (const shared_request& call : one.calls)
      if (call != nullptr) call->stopping_ns = 0;  // none of them has begun
  }
  busy_ns_ = base::now_ns();
  driver_->launch();
  at_.counters.note_device(device_state::resident);
  at_.counters.count_device_launch();
}

/// The device may refuse the kernel, and nothing else is to be had of it then.
void device_calls::launch_or_end(std::unique_lock<std::mutex>& lock) {
  std::string why;
  try {
    return launch();
  } catch (const std::exception& problem) {
    why = problem.what();
  }
  end_process(lock, {why, {}});
}

void device_calls::ask_to_leave() {
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    queue& to = queues_[i];
    to.calls[to.sent % wire::queue_slots] = nullptr;
    wire::send_call(driver_->queues()[i], to.sent++, wire::leave_function, 0, 0);
  }
  leaving_ = true;
}

/// Nothing of the device is on its way any more.
bool device_calls::is_quiet() noexcept {
  return std::ranges::all_of(queues_, [](const queue& one) { return one.sent == one.consumed(); }) &&
         messages_.is_quiet();
}

bool device_calls::wants_absence() const noexcept {
  const device_heap* const memory = at_.memory.device();
  return memory != nullptr && memory->wants_absence();
}

/// While the kernel is absent, which it is until this thread launches it. Calls arrive meanwhile.
void device_calls::use_absence(std::unique_lock<std::mutex>& lock) {
  if (!wants_absence()) return;
  lock.unlock();
  at_.memory.device()->use_absence();
  lock.lock();
}

void device_calls::follow_residency(std::unique_lock<std::mutex>& lock) {
  is_settled_ = false;
  const bool has_calls = in_queues_ != 0 || !waiting_.empty();
  switch (driver_->state()) {
    case residency::failed: end_process(lock, driver_->failure());
    case residency::absent:
      absent_ = true;
      at_.counters.note_device(device_state::idle);
      use_absence(lock);
      if (absences_ != 0) {
        away_ = true;
        work_.wait_for(lock, time_between_asking_calls, [this] { return stop_ || absences_ == 0; });
        return;
      }
      if (in_queues_ != 0 || !waiting_.empty())
        launch_or_end(lock);
      else if (is_quiet())
        work_.wait(lock, [this] {
          return stop_ || in_queues_ != 0 || !waiting_.empty() || wants_absence() || absences_ != 0;
        });
      return;
    case residency::resident: break;
  }
  if (leaving_) return;
  is_settled_ = true;
  if (std::ranges::any_of(queues_, &queue::full)) return;
  const bool unknown = !waiting_.empty() && !waiting_.front()->is_among(uploaded_);
  const bool idle = !has_calls && (wants_absence() || base::now_ns() - busy_ns_ > limits_.linger_ns);
  // What has begun may be waiting for later calls: they go on if the absence is given up.
  const bool wanted = absences_ != 0 && in_queues_ == 0;
  if (!unknown && !idle && !stop_ && !wanted) return;
  is_settled_ = false;
  ask_to_leave();
}

void device_calls::begin_absence() {
  {
    const std::lock_guard guard(mutex_);
    ++absences_;
  }
  work_.notify_one();
}

void device_calls::end_absence() noexcept {
  {
    const std::lock_guard guard(mutex_);
    if (--absences_ == 0) away_ = false;
  }
  work_.notify_one();
}

bool device_calls::is_away() {
  const std::lock_guard guard(mutex_);
  return away_;
}

// ---- ham::cuda::while_absent()

namespace {

/// Of the calling thread; not those within it.
constinit thread_local const device_absence* absence_of_thread = nullptr;

/// Calls `use` with the device of that node, which stays meanwhile. False: it has ended.
template <class Use>
bool with_device_of(const engine* node, Use use) {
  const std::lock_guard guard(device_calls::end_mutex());  // threads of contexts may outlive the device
  device_calls* const here = device_calls::of(node);
  if (here != nullptr) use(*here);
  return here != nullptr;
}

engine* node_that_needs_absence() {
  engine* const at = current_or_null();
  if (absence_of_thread != nullptr || !device_calls::is_of(at)) return nullptr;
  const bool in_continuation = this_thread.draining.of != nullptr && this_thread.draining.depth == this_thread.depth;
  if (in_continuation || this_thread.serves_others) {
    throw call_error(
        "ham::cuda::while_absent() is called in a continuation, or on a thread that serves the node, which the "
        "resident kernel may need to leave; call it in a function of the node");
  }
  return at;
}

[[noreturn]] void throw_stopped(const call_stop& of) {
  const std::string what = "ham::cuda::while_absent() was given up before the resident kernel had left (";
  if (of.deadline_ns() <= base::now_ns())
    throw deadline_exceeded(what + "the deadline of the call passed)", call_outcome::not_run);
  throw operation_cancelled(what + "the call was stopped)", call_outcome::not_run);
}

}  // namespace

/// What the device's functions still wait for may have to be received, which this thread may be the one for. A stop of
/// the call ends the wait.
device_absence::device_absence() : node_(node_that_needs_absence()) {
  constexpr base::backoff_schedule schedule{.spins = 20, .yields = 100, .sleep_ns = 20'000, .max_sleep_ns = 500'000};
  if (node_ == nullptr) return;
  node_->standby.start();
  call_stop* const stop = this_thread.innermost_stop();
  bool away = false;
  bool there = with_device_of(node_, [](device_calls& at) { at.begin_absence(); });
  for (base::backoff<schedule> pause; there && !away; pause.wait()) {
    there = with_device_of(node_, [&away](device_calls& at) { away = at.is_away(); });
    if (!there || away || stop == nullptr || !stop->requested()) continue;
    with_device_of(node_, [](device_calls& at) { at.end_absence(); });
    throw_stopped(*stop);
  }
  if (!there) throw call_error("the device of this node has ended with its job");
  absence_of_thread = this;
}

device_absence::~device_absence() {
  if (node_ == nullptr) return;
  absence_of_thread = nullptr;
  with_device_of(node_, [](device_calls& at) { at.end_absence(); });
}

}  // namespace ham::detail
