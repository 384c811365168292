#include "runtime/device_execution.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "core/node_loss.hpp"
#include "ham/msg/handler_table.hpp"

namespace ham::inline v1::detail {

device_execution::device_execution(const incoming_call& from, const device_request& what, std::uint32_t context)
    : held_(from), function_(what.function), answer_(what.answer), size_(what.size), context_(context) {
  result_.reserve(function_->row.result_size);
}

device_execution::device_execution(const incoming_call& first, device_chain&& chain, std::uint32_t context)
    : arguments(std::move(chain.program())),
      held_(first),
      steps_(std::move(chain.steps())),
      function_(steps_.front().function),
      answer_(steps_.back().answer),
      size_(arguments.size()),
      context_(context) {
  result_.reserve(steps_.back().function->row.result_size);
}

void device_execution::turn_to(std::uint64_t step) noexcept {
  if (step >= steps_.size()) return;
  const device_chain::step& one = steps_[static_cast<std::size_t>(step)];
  function_ = one.function;
  held_.call().function = one.handler;
  held_.call().call = one.call;
  held_.call().sink = one.sink;
}

std::string device_execution::name() const {
  return msg::handler_table::local().pretty_name(held_.call().function->key());
}

std::string in_one_of(std::vector<std::string> names) {
  std::ranges::sort(names);
  // Not std::ranges::unique: clang 14 cannot compile libstdc++ 12's.
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::string text;
  for (const std::string& name : names)
    text += (text.empty() ? names.size() == 1 ? " in " : " in one of " : ", ") + name;
  return text;
}

/// What `thrower` throws is the answer, and counts as no execution.
template <class Thrower>
void device_execution::fail_with(Thrower thrower) noexcept {
  stoppable_call& call = held_.call();
  const engine_scope scope(call.at);
  call.decoded = true;
  try {
    thrower();
  } catch (...) {
    call_failed(call);
  }
}

bool device_execution::add_reply(const device::detail::reply_slot& reply) noexcept {
  const device::call_status status = device::detail::status_of(reply);
  if (status != device::call_status::done) status_ = status;
  const std::size_t size = std::min(device::detail::size_of(reply), result_.capacity());
  if (size != 0) result_.assign(reply.result, reply.result + size);
  if (!steps_.empty() && status != device::call_status::done) {
    std::uint64_t step = 0;
    std::memcpy(&step, reply.result, sizeof step);
    failed_step_ = static_cast<std::size_t>(std::min<std::uint64_t>(step, steps_.size() - 1));
  }
  return --replies_missing == 0;
}

std::size_t device_execution::executed_calls() const noexcept {
  const std::size_t last = has_run() ? 1 : 0;
  if (steps_.empty()) return last;
  return status_ == device::call_status::done ? steps_.size() : failed_step_ + last;
}

/// Calls of a chain that have ended before the one that is answered.
void device_execution::note_steps_before(std::size_t last) noexcept {
  const stoppable_call& call = held_.call();
  for (const device_chain::step& one : std::span(steps_).first(last))
    base::observed_execution({call.at->self(), call.from->node, one.handler->key(), one.call}, &call.at->counters);
}

void device_execution::answer() noexcept {
  if (!steps_.empty()) {
    const std::size_t answered = status_ == device::call_status::done ? steps_.size() - 1 : failed_step_;
    turn_to(answered);
    note_steps_before(answered);
  }
  if (!has_run()) {
    cancel();
    return;
  }
  held_.answer([this](incoming_call& call) {
    const std::string where = " on the device of node " + std::to_string(call.at->self());
    switch (status_) {
      case device::call_status::done:
        result_.resize(function_->row.result_size);
        answer_(call, result_.data());
        return;
      case device::call_status::no_function:
        throw call_error(name() + " cannot run" + where +
                         " (that has no version of it); compile the source that declares it for the device, too");
      case device::call_status::wrong_size:
        throw call_error(name() + " cannot run" + where + " (its arguments did not arrive as it reads them)");
      case device::call_status::stopped:
      case device::call_status::threw: break;
    }
    throw call_error(name() + " has thrown an exception" + where +
                     " (exceptions do not leave devices); have it return what is wrong");
  });
  end_fences();
}

void device_execution::fail(const std::string& why, bool may_have_run) noexcept {
  fail_with([&] {
    const stoppable_call& call = held_.call();
    node_failure::details what;
    what.function = name();
    what.call = call.call;
    what.outcome = may_have_run ? call_outcome::may_have_run : call_outcome::not_run;
    throw_ending(call.at->self(), why, std::move(what));
  });
}

void device_execution::cancel() noexcept {
  try {
    const stoppable_call& call = held_.call();
    const std::string what = name() + " has not run on the device of node " + std::to_string(call.at->self());
    if (call.stop != nullptr && call.stop->deadline_ns() <= base::now_ns())
      throw deadline_exceeded(what + " (its deadline passed before it began)", call_outcome::not_run);
    throw operation_cancelled(what + " (it was stopped before it began)", call_outcome::not_run);
  } catch (...) {
    refuse(std::current_exception());
  }
}

void device_execution::refuse(const std::exception_ptr& why) noexcept {
  fail_with([&] { std::rethrow_exception(why); });
  end_fences();
}

void device_execution::end_fences() const noexcept {
  for (const std::shared_ptr<device_fence>& one : fences) one->one_has_ended();
}

void device_execution::leave_unanswered(bool may_have_run) noexcept {
  if (held_.call().sink != nullptr) fail("it ends", may_have_run);
  end_fences();
}

}  // namespace ham::detail
