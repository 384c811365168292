// Calls whose answer is something that is owned: one that comes behind the deadline is given back. Internal.
#pragma once

#include <cstdint>
#include <stop_token>
#include <utility>

#include "ham/offload/stop.hpp"

namespace ham::inline v1::detail {

/// The next call of this thread, while it lives, is not settled by its deadline once it has left; that still bounds the
/// wait for room. Who makes it waits until then, and gives back what comes later.
class owned_answers {
 public:
  owned_answers() noexcept;
  owned_answers(const owned_answers&) = delete;
  owned_answers& operator=(const owned_answers&) = delete;
  ~owned_answers();

 private:
  unsigned before_;
};

/// The deadline of a call that was sent does not settle it any more. False: it has settled already.
bool keep_beyond_deadline(call_slot& slot) noexcept;
/// Throws the ham::deadline_exceeded of a call to `node` whose answer is given back when it comes.
[[noreturn]] void throw_given_back(node_t node, const msg::handler_entry* function);

/// Calls and waits for the result until the deadline of `to`, if it has one. After that throws
/// ham::deadline_exceeded, and calls undo(result) when the result comes: on the thread that makes progress, as what
/// then() runs; it must not wait. `token`, if it is not null, takes the call out of queues, of which
/// ham::operation_cancelled tells; once it has begun, its answer is awaited.
template <class Undo, class Callable, class... Args>
auto sync_or_undo_unless(const std::stop_token* token, const destination& to, Undo&& undo, const Callable& callable,
                         Args&&... args) -> result_of_call_t<Callable, Args...> {
  using result = result_of_call_t<Callable, Args...>;
  using plan = call_plan<Callable, Args...>;
  const stop_shield own_deadline_only;  // what an answer after that owns could not be given back
  if (token != nullptr && token->stop_requested())
    return offload::detail::future_access::make<result>(stop_link::stopped_slot(engine_for(to), to.node)).get();
  call_slot* slot = nullptr;
  {
    const token_of_next_call ends_wait(token);
    const owned_answers settled_by_answers;
    if constexpr (plan::valid)
      slot = plan::send(engine_for(to), to, &slot_value<result>::decode, when_full::wait, callable,
                        static_cast<Args&&>(args)...);
    else [[maybe_unused]]
      typename plan::report error;
  }
  auto answer = offload::detail::future_access::make<result>(slot);
  if (token != nullptr) stop_link::attach(*slot, *token, offload::when_stopped::after_answer);
  if (to.deadline_ns == 0 || !keep_beyond_deadline(*slot) || wait_slot(*slot, to.deadline_ns)) return answer.get();
  const msg::handler_entry* const function = slot->function;
  answer
      .then_result([undo = std::forward<Undo>(undo)](offload::future<result> late) mutable {
        if (late.has_value()) undo(late.get());  // and an error is nobody's business: the caller has one already
      })
      .detach();
  throw_given_back(to.node, function);
}
template <class Undo, class Callable, class... Args>
auto sync_or_undo(const destination& to, Undo&& undo, const Callable& callable, Args&&... args)
    -> result_of_call_t<Callable, Args...> {
  return sync_or_undo_unless(nullptr, to, static_cast<Undo&&>(undo), callable, static_cast<Args&&>(args)...);
}

}  // namespace ham::detail
