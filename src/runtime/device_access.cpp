// How handlers and functions of the host reach the device of their process.
#include <algorithm>
#include <memory>
#include <string>

#include "base/backoff.hpp"
#include "core/call_stops.hpp"
#include "core/thread_state.hpp"
#include "ham/device/device_code.hpp"
#include "ham/device/offloading.hpp"
#include "ham/device/place.hpp"
#include "runtime/contexts.hpp"
#include "runtime/device_calls.hpp"
#include "runtime/device_chain.hpp"
#include "runtime/device_polling.hpp"

namespace ham::inline v1::detail {

/// The manifest tells it to other nodes; this is for calls of the node itself, and for what the manifest did not have
/// yet. Before anything is in a queue: the resident kernel of a program without code for devices does not even exist.
void device_calls::throw_no_version(const device_execution& call) const {
  const char* const why =
      device::detail::device_code_was_left_out()
          ? " (the device functions of this program were compiled with the headers of another version of HAM, and are "
            "left out); compile them again"
          : " (that has no version of it: no compiler for devices has seen the function); compile the source that "
            "declares it with one, as nvcc";
  throw call_error(call.name() + " cannot run on the device of node " + std::to_string(at_.self()) + why);
}

device_calls::poll_scope::poll_scope(const engine& at) {
  const std::unique_lock guard(end_mutex(), std::try_to_lock);
  if (guard) of_ = device_calls::of(&at);
  if (of_ != nullptr) of_->polls_.fetch_add(1, std::memory_order_relaxed);
}
device_calls::poll_scope::~poll_scope() {
  if (of_ != nullptr) of_->polls_.fetch_sub(1, std::memory_order_release);
}

void device_calls::submit(incoming_call& call, const device_request& what, std::uint32_t context) {
  const auto one = std::make_shared<device_execution>(call, what, context);
  if (!has(*what.function)) throw_no_version(*one);
  submit(one, &what);
}

void device_calls::submit(incoming_call& first, device_chain&& chain, std::uint32_t context) {
  const auto one = std::make_shared<device_execution>(first, std::move(chain), context);
  if (!one->all_of([this](const auto& function) { return has(function); })) throw_no_version(*one);
  submit(one, nullptr);
}

/// Without `what` it has its arguments.
void device_calls::submit(const shared_request& one, const device_request* what) {
  bool sleeps = false;
  {
    std::lock_guard guard(mutex_);
    if (!may_begin(*one) || !post(one, what == nullptr ? one->arguments.data() : nullptr, what)) {
      if (what != nullptr) {
        one->arguments.resize(what->size);
        what->write(one->arguments.data(), what->arguments);
      }
      waiting_.push_back(one);
      ++waiting_in(*one);
      has_waiting_.store(true, std::memory_order_relaxed);
    }
    sleeps = waiting_.size() + in_queues_ == 1 && !(is_settled_ && is_polled_.load(std::memory_order_relaxed));
  }
  if (sleeps) work_.notify_one();
}

bool device_calls::has_calls_of(std::uint32_t context) {
  const auto is_of_it = [context](const shared_request& one) { return one != nullptr && one->context() == context; };
  std::lock_guard guard(mutex_);
  return failed_ || std::ranges::any_of(waiting_, is_of_it) ||
         std::ranges::any_of(queues_, [&](const queue& one) { return std::ranges::any_of(one.calls, is_of_it); });
}

void device_calls::pass_after_calls(const std::shared_ptr<device_fence>& fence) {
  const auto add_to = [&fence](const shared_request& one) {
    const bool has_it = one == nullptr || (!one->fences.empty() && one->fences.back() == fence);
    if (has_it || one->context() != 0) return;
    one->fences.push_back(fence);
    fence->wait_for_one_more();
  };
  std::lock_guard guard(mutex_);
  if (failed_) fence->wait_for_one_more();
  std::ranges::for_each(waiting_, add_to);
  for (const queue& one : queues_) std::ranges::for_each(one.calls, add_to);
}

void* device_calls::stream_here() const noexcept { return driver_->stream_of(contexts::of_call()); }

bool has_device(const incoming_call& call) noexcept { return device_calls::is_of(call.at); }

bool device_has(const device::detail::function_entry& function) {
  if (device_calls::of_this_process() == nullptr) return true;
  const std::lock_guard guard(device_calls::end_mutex());
  const device_calls* const here = device_calls::of_this_process();
  return here == nullptr || here->has(function);
}

void await_calls_on_device(const engine& at) {
  constexpr base::backoff_schedule schedule{.spins = 20, .yields = 100, .sleep_ns = 20'000, .max_sleep_ns = 500'000};
  const auto has_calls = [&at] {
    if (device_calls::of(&at) == nullptr) return false;
    const std::lock_guard guard(device_calls::end_mutex());
    device_calls* const here = device_calls::of(&at);
    return here != nullptr && here->has_calls_of(contexts::current());
  };
  for (base::backoff<schedule> pause; has_calls();) pause.wait();
}

void pass_after_calls_on_device(const engine& at, const std::shared_ptr<device_fence>& fence) {
  if (device_calls::of(&at) != nullptr) {
    const std::lock_guard guard(device_calls::end_mutex());
    if (device_calls* const here = device_calls::of(&at); here != nullptr) here->pass_after_calls(fence);
  }
  fence->one_has_ended();
}

void run_on_device(incoming_call& call, const device_request& what) {
  if (device_chain* const chain = device_chain::adding(call)) {
    chain->take(call, what);
    return;
  }
  const result_sink* const sink = call.sink;
  run_on_device(call, what, contexts::of_call());
  device_chain::note_handed_over(sink);
}

namespace {

template <class Submit>
void submit_to_device_of(const incoming_call& call, Submit submit) {
  const std::lock_guard guard(device_calls::end_mutex());  // threads of contexts may outlive the device
  device_calls* const to = device_calls::of(call.at);
  if (to != nullptr) {
    submit(*to);
  } else if (call.sink != nullptr || call.from == &call.at->own) {  // somebody here waits for it
    throw call_error("the device of this node has ended with its job");
  }  // else the caller sees the end of the node, like those whose calls the device has
}

}  // namespace

void run_on_device(incoming_call& call, const device_request& what, std::uint32_t context) {
  submit_to_device_of(call, [&](device_calls& to) { to.submit(call, what, context); });
}

void run_on_device(incoming_call& first, device_chain&& chain) {
  submit_to_device_of(first, [&](device_calls& to) { to.submit(first, std::move(chain), contexts::of_call()); });
}

bool poll_device(const engine& at) {
  if (!device_calls::is_of(&at)) return false;
  const device_calls::poll_scope scope(at);
  return scope.of() != nullptr && scope.of()->poll();
}

/// The receiving lock is held, so nothing is waited for: a device that is not told finds out by itself soon.
void leave_device_alone(const engine& at) {
  const std::unique_lock guard(device_calls::end_mutex(), std::try_to_lock);
  device_calls* const to = guard ? device_calls::of(&at) : nullptr;
  if (to != nullptr) to->leave_alone();
}

void refuse_holder(const incoming_call& call) {
  throw call_error(msg::handler_table::local().pretty_name(call.function->key()) + " cannot run on node " +
                   std::to_string(call.at->self()) +
                   " (it holds a device function, which the processor of that node would execute and not its device); "
                   "call the device function itself, and give it all values as arguments");
}

}  // namespace ham::detail

namespace ham::inline v1::device::detail {

void answer_device(const answer_place& answer, const std::byte* value, std::size_t size) noexcept {
  const std::lock_guard guard(ham::detail::device_calls::end_mutex());
  ham::detail::device_calls* const to = ham::detail::device_calls::of_this_process();
  const answer_status status = value == nullptr ? answer_status::failed : answer_status::value;
  if (to != nullptr) to->answer(answer, status, value, size);
}

void fail_device(const answer_place& answer) noexcept { answer_device(answer, nullptr, 0); }

bool stop_requested_of_processor() noexcept {
  ham::detail::call_stop* const stop = ham::detail::this_thread.innermost_stop();
  return stop != nullptr && stop->requested();
}

}  // namespace ham::device::detail
