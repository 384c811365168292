// A coroutine that awaits futures.
#pragma once

#include <coroutine>
#include <exception>
#include <utility>

#include "ham/offload/future.hpp"

namespace ham::offload {

/// Return type for coroutines: `task<int> solve() { const int a = co_await async(1, fn<&f>); co_return a + 1; }`.
/// Starts at once; get() waits and gives the result. Can itself be awaited. Movable; the destructor waits.
template <class Result = void>
class task {
 public:
  struct promise_base {
    detail::call_slot* slot = detail::make_local_slot(detail::current());
    [[nodiscard]] task get_return_object() { return task(future<Result>(slot)); }
    [[nodiscard]] std::suspend_never initial_suspend() const noexcept { return {}; }
    [[nodiscard]] std::suspend_never final_suspend() const noexcept { return {}; }
    void unhandled_exception() noexcept {
      detail::fulfil<Result>(*slot, []() -> Result { throw; });
    }
  };
  struct value_promise : promise_base {
    template <class Value>
    void return_value(Value&& value) {
      detail::fulfil<Result>(*this->slot, [&]() -> Result { return std::forward<Value>(value); });
    }
  };
  struct void_promise : promise_base {
    void return_void() noexcept {
      detail::fulfil<void>(*this->slot, [] {});
    }
  };
  using promise_type = std::conditional_t<std::is_void_v<Result>, void_promise, value_promise>;

  [[nodiscard]] bool test() { return result_.test(); }
  Result get() { return result_.get(); }
  [[nodiscard]] future<Result> as_future() && { return std::move(result_); }
  auto operator co_await() && noexcept { return std::move(result_).operator co_await(); }

 private:
  explicit task(future<Result> result) noexcept : result_(std::move(result)) {}
  future<Result> result_;
};

}  // namespace ham::offload
