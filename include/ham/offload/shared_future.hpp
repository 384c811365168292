// A future that can be copied, and read more than once, from several threads.
//
//   offload::shared_future<int> size = async(1, fn<&count>).share();
//   auto twice = size.then([](const int& n) { return 2 * n; });
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

#include "ham/offload/future.hpp"

namespace ham::inline v1::offload {

/// Made by future::share(), or from a future. Copies share the result, which lives as long as one of them. All members
/// that are const may be called by several threads at once, for one object as well. The destructor of the last copy
/// completes the operation as that of a future does, and tells an error that nobody has read.
template <class Result>
class shared_future {
 public:
  using value_type = Result;  ///< what get() gives a const& of

  shared_future() noexcept = default;
  /// Takes the result over from `from`, which is not valid afterwards; of one that is not valid, this is not either. If
  /// the call waits in a batch, the batch is submitted: by the batch's thread only.
  // NOLINTNEXTLINE(google-explicit-constructor): as std::shared_future
  shared_future(future<Result>&& from) {
    if (!from.valid()) return;
    detail::call_slot& slot = *detail::future_access::slot(from);
    if (slot.in_batch) static_cast<void>(detail::wait_slot(slot, 0));  // submitted here, by the batch's thread
    state_ = std::make_shared<const future<Result>>(std::move(from));
  }

  /// False for one that is empty or was moved from. get() leaves it valid.
  [[nodiscard]] bool valid() const noexcept { return state_ != nullptr; }
  /// As those of future.
  [[nodiscard]] bool test() const {
    if (!valid()) return false;
    if (!slot().settled()) detail::poll_slot(slot());
    return slot().settled();
  }
  void wait() const {
    require_valid();
    state_->wait();
  }
  template <class Rep, class Period>
  [[nodiscard]] bool wait_for(std::chrono::duration<Rep, Period> time) const {
    require_valid();
    return state_->wait_for(time);
  }
  [[nodiscard]] bool has_value() const { return valid() && state_->has_value(); }
  [[nodiscard]] std::exception_ptr error() const { return valid() ? state_->error() : detail::no_result(); }

  /// Blocks until settled. The value, which stays where it is while a copy of this lives; or throws what the operation
  /// failed with, each time.
  decltype(auto) get() const {
    wait();
    if (std::exception_ptr why = detail::see_failure(slot()); why != nullptr) [[unlikely]]
      detail::rethrow(std::move(why));
    if constexpr (!std::is_void_v<Result>) return static_cast<const Result&>(detail::slot_value<Result>::get(slot()));
  }

  /// Runs `function(value)`, which sees the value as const&, when it is there; as future::then, but any number of
  /// times.
  template <class Function>
  [[nodiscard]] auto then(Function&& function) const {
    return after().then(bound(static_cast<Function&&>(function)));
  }
  template <executor Executor, class Function>
  [[nodiscard]] auto then(Executor&& ex, Function&& function) const {
    return after().then(static_cast<Executor&&>(ex), bound(static_cast<Function&&>(function)));
  }

  /// `co_await` gives the value as const&, or throws.
  auto operator co_await() const noexcept {
    struct awaiter : detail::continuation {
      explicit awaiter(shared_future from) noexcept : source(std::move(from)) {}
      [[nodiscard]] bool await_ready() const noexcept { return source.valid() && source.slot().settled(); }
      void await_suspend(std::coroutine_handle<> waiting) {
        coroutine = waiting;
        run = [](continuation* self) { static_cast<awaiter*>(self)->coroutine.resume(); };
        source.require_valid();
        detail::future_access::on_settled(*source.state_, this);
      }
      decltype(auto) await_resume() const { return source.get(); }
      shared_future source;
      std::coroutine_handle<> coroutine;
    };
    return awaiter(*this);
  }

 private:
  /// Copies the state, not the value.
  template <class Function>
  [[nodiscard]] auto bound(Function&& function) const {
    return [self = *this, what = static_cast<Function&&>(function)]() mutable -> decltype(auto) {
      if constexpr (std::is_void_v<Result>) {
        self.get();
        return std::move(what)();
      } else {
        return std::move(what)(self.get());
      }
    };
  }
  /// A future of nothing, which settles with this one.
  [[nodiscard]] future<void> after() const {
    require_valid();
    detail::engine& at = detail::future_access::runtime(*state_);
    struct follower : detail::continuation {
      detail::call_slot* target = nullptr;
      shared_future source;
    };
    auto one = std::make_unique<follower>();
    one->target = detail::make_local_slot(at);
    one->source = *this;
    one->run = [](detail::continuation* self) {
      auto* const me = static_cast<follower*>(self);
      if (std::exception_ptr why = me->source.error(); why != nullptr)
        detail::fail_local(*me->target, std::move(why));
      else
        detail::fulfil<void>(*me->target, [] {});
      delete me;
    };
    auto settled = detail::future_access::make<void>(one->target);
    detail::future_access::on_settled(*state_, one.release());
    return settled;
  }
  void require_valid() const {
    if (!valid()) [[unlikely]]
      detail::throw_no_result();
  }
  [[nodiscard]] detail::call_slot& slot() const noexcept { return *detail::future_access::slot(*state_); }

  std::shared_ptr<const future<Result>> state_;
};

template <class Result>
shared_future<Result> future<Result>::share() {
  require_valid();
  return shared_future<Result>(std::move(*this));
}

}  // namespace ham::offload
