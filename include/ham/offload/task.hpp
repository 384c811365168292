// A coroutine that awaits futures.
#pragma once

#include <coroutine>
#include <exception>
#include <utility>

#include "ham/offload/future.hpp"

namespace ham::inline v1::offload {

/// Return type for coroutines: `task<int> solve() { const int a = co_await async(1, fn<&f>); co_return a + 1; }`.
/// Starts at once; get() waits and gives the result. Can itself be awaited. Movable; the destructor waits. After a
/// co_await it goes on in the thread that makes progress, or where an executor runs it:
/// `co_await on(executor, async(...))`.
template <class Result = void>
class [[nodiscard]] task {
 public:
  /// Of the coroutine protocol: what the promises of all results have in common. Internal.
  struct promise_base {
    /// Of the result; owned by the future in the task. Throws ham::config_error if no runtime is up.
    detail::call_slot* slot = detail::make_local_slot(detail::current());
    /// Number of the runtime in which the coroutine was called.
    std::uint64_t runtime = detail::serial_of(*slot->owner);
    /// The task of this coroutine, whose get() waits for it.
    [[nodiscard]] task get_return_object() { return task(detail::future_access::make<Result>(slot)); }
    /// The coroutine starts within the call.
    [[nodiscard]] std::suspend_never initial_suspend() const noexcept { return {}; }
    /// Settles the task. The coroutine's variables are gone, and so is what it has caught; its parameters go with its
    /// frame, right after this. It may end anywhere (on()), also when its runtime has ended.
    [[nodiscard]] std::suspend_never final_suspend() noexcept {
      if (detail::on_executor())
        detail::deliver(runtime, *slot, std::move(outcome));
      else if (outcome.error != nullptr)
        detail::fail_local(*slot, std::move(outcome.error));
      else
        detail::fulfil<Result>(*slot, [&]() -> Result { return outcome.take(); });
      return {};
    }
    /// What leaves the coroutine becomes the error of its task.
    void unhandled_exception() noexcept { outcome.error = std::current_exception(); }
    /// What the task settles with.
    detail::outcome_of<Result> outcome;
  };
  /// The promise of a coroutine with a result.
  struct value_promise : promise_base {
    /// co_return: makes the result of `value`. What that throws is the error.
    template <class Value>
    void return_value(Value&& value) {
      this->outcome.fill([&]() -> Result { return std::forward<Value>(value); });
    }
  };
  /// The promise of a coroutine without one.
  struct void_promise : promise_base {
    /// The end of the coroutine.
    void return_void() const noexcept {}
  };
  /// Of the coroutine protocol.
  using promise_type = std::conditional_t<std::is_void_v<Result>, void_promise, value_promise>;

  /// As those of future.
  [[nodiscard]] bool test() { return result_.test(); }
  [[nodiscard]] bool has_value() const { return result_.has_value(); }
  [[nodiscard]] std::exception_ptr error() const { return result_.error(); }
  Result get() { return result_.get(); }
  /// Takes the result out of the task, as a future: for when_all, then, a container. The task is not valid afterwards,
  /// and its destructor does not wait.
  [[nodiscard]] future<Result> as_future() && { return std::move(result_); }
  /// co_await of a task waits as that of a future does, and goes on in the thread that makes progress. Takes the
  /// result.
  auto operator co_await() && noexcept { return std::move(result_).operator co_await(); }

 private:
  explicit task(future<Result> result) noexcept : result_(std::move(result)) {}
  future<Result> result_;
};

namespace detail {

/// Goes on as work of an executor. The result is taken out of its slot before.
template <class Result, class Executor>
struct awaiter_on : continuation {
  struct resumption : work_state {
    awaiter_on* of = nullptr;
  };

  awaiter_on(Executor where, future<Result> what) : ex(std::move(where)), source(std::move(what)) {}
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiting) {
    coroutine = waiting;
    run = [](continuation* self) { static_cast<awaiter_on*>(self)->hand_over(); };
    future_access::on_settled(source, this);
  }
  Result await_resume() { return got.take(); }

  void hand_over() noexcept {
    const engine* const at = future_access::slot(source)->owner;
    const std::uint64_t runtime = at == nullptr ? 0 : serial_of(*at);
    got = outcome_in(source);
    HAM_TRY {
      auto* const state = new resumption;
      state->run = [](work_state& self, bool dropped) noexcept {
        awaiter_on& me = *static_cast<resumption&>(self).of;
        if (dropped && me.got.error == nullptr) me.got.error = dropped_work();
        me.coroutine.resume();
      };
      state->destroy = [](work_state* self) noexcept { delete static_cast<resumption*>(self); };
      state->runtime = runtime;
      state->of = this;
      Executor where = ex;  // this object may go while it is used
      const work mine(*state);
      HAM_TRY { executor_of(where).execute(mine); }
      HAM_CATCH_ALL { got.error = std::current_exception(); }  // nobody has run it: it goes on with that
    }
    HAM_CATCH_ALL { return; }
  }

  Executor ex;
  future<Result> source;
  outcome_of<Result> got{};
  std::coroutine_handle<> coroutine;
};

}  // namespace detail

/// `co_await on(ex, async(...))`: as `co_await async(...)`, but the coroutine goes on as work of the executor `ex`,
/// also when the result was there before. Throws ham::error there if the executor drops it.
template <executor Executor, class Result>
[[nodiscard]] auto on(Executor&& ex, future<Result>&& what) {
  return detail::awaiter_on<Result, std::decay_t<Executor>>(static_cast<Executor&&>(ex), std::move(what));
}
template <executor Executor, class Result>
[[nodiscard]] auto on(Executor&& ex, task<Result>&& what) {
  return on(static_cast<Executor&&>(ex), std::move(what).as_future());
}

}  // namespace ham::offload
