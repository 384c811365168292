// The operation states of HAM's senders: a call, or a future, completes a receiver. Internal.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "ham/error_info.hpp"
#include "ham/offload/call.hpp"
#include "ham/offload/detail/sender_names.hpp"
#include "ham/offload/stop.hpp"

namespace ham::inline v1::offload::detail::inline HAM_SENDERS {

/// What a stop callback does: it names the call by numbers, because that may have settled, and its runtime have ended.
struct stop_of_call {
  std::uint64_t runtime;
  std::uint32_t call;
  void operator()() const noexcept {
    const held_engine at(runtime);
    if (at) at.stop_call(call, when_stopped::after_answer);
  }
};

[[nodiscard]] inline bool says_cancelled(const std::exception_ptr& why) noexcept {
  HAM_TRY { return describe_error(why).kind == error_kind::cancelled; }
  HAM_CATCH_ALL { return false; }  // no memory for its texts
}

/// Completes the receiver, after which its operation may have gone.
template <class Receiver>
void complete_with_error(Receiver&& receiver, std::exception_ptr why) noexcept {
  if (says_cancelled(why))
    execution::set_stopped(static_cast<Receiver&&>(receiver));
  else
    execution::set_error(static_cast<Receiver&&>(receiver), std::move(why));
}
template <class Result, class Receiver>
void complete_with(Receiver&& receiver, outcome_of<Result> taken) noexcept {
  if (taken.error != nullptr) [[unlikely]]
    complete_with_error(static_cast<Receiver&&>(receiver), std::move(taken.error));
  else if constexpr (std::is_void_v<Result>)
    execution::set_value(static_cast<Receiver&&>(receiver));
  else
    execution::set_value(static_cast<Receiver&&>(receiver), *std::move(taken.value));
}

/// Hands the outcome of a future on to a receiver, on the thread that makes progress. Is the continuation itself, so
/// that nothing is allocated.
template <class Result, class Receiver>
class sender_operation : continuation {
 public:
  using operation_state_concept = execution::operation_state_tag;
  sender_operation(sender_operation&&) = delete;

 protected:
  using stop_token = stop_token_of<Receiver>;
  static constexpr bool can_stop = !stops_never<stop_token>;

  explicit sender_operation(Receiver&& to) noexcept(std::is_nothrow_move_constructible_v<Receiver>)
      : continuation{&settled, nullptr}, receiver_(static_cast<Receiver&&>(to)) {}
  ~sender_operation() = default;

  [[nodiscard]] stop_token token() const noexcept { return execution::get_stop_token(execution::get_env(receiver_)); }
  void stopped() noexcept { execution::set_stopped(std::move(receiver_)); }
  void fail(std::exception_ptr why) noexcept { complete_with_error(std::move(receiver_), std::move(why)); }

  /// From the return on, or before, the receiver is completed, and this may have gone.
  void follow(future<Result> of) noexcept {
    future_ = std::move(of);
    if constexpr (can_stop) {
      // Before settled() can run, which takes it off again.
      const call_slot& slot = *future_access::slot(future_);
      if (auto stop = token(); stop.stop_possible() && slot.owner != nullptr)
        on_stop_.emplace(std::move(stop),
                         stop_of_call{serial_of(*slot.owner), slot.id.load(std::memory_order_relaxed)});
    }
    future_access::on_settled(future_, this);
  }

 private:
  struct nothing {};
  template <class Token>
  struct callback {
    using type = std::optional<typename stop_callback_of<Token, stop_of_call>::type>;
  };
  using stop_callback = typename std::conditional_t<can_stop, callback<stop_token>, std::type_identity<nothing>>::type;

  static void settled(continuation* self) {
    auto& me = *static_cast<sender_operation*>(self);
    if constexpr (can_stop) me.on_stop_.reset();
    complete_with<Result>(std::move(me.receiver_), outcome_in(me.future_));
  }

  Receiver receiver_;
  future<Result> future_;
  [[no_unique_address]] stop_callback on_stop_{};
};

/// Makes a call when it is started.
template <class Bound, class Receiver>
class call_operation : public sender_operation<typename Bound::result_type, Receiver> {
  using base = sender_operation<typename Bound::result_type, Receiver>;

 public:
  call_operation(const destination& to, Bound call, Receiver&& receiver)
      : base(static_cast<Receiver&&>(receiver)), to_(to), call_(std::move(call)) {}

  void start() & noexcept {
    if constexpr (base::can_stop) {
      if (this->token().stop_requested()) {
        this->stopped();
        return;
      }
    }
    std::exception_ptr why;
    future<typename Bound::result_type> made;
    HAM_TRY { made = begin(); }
    HAM_CATCH_ALL { why = std::current_exception(); }
    if (why != nullptr)
      this->fail(std::move(why));
    else
      this->follow(std::move(made));
  }

 private:
  /// Waits for the node and for room, as long as nobody stops it.
  [[nodiscard]] future<typename Bound::result_type> begin() const {
    if constexpr (base::can_stop) {
      if (auto stop = this->token(); stop.stop_possible()) {
        const destination where = stoppable(to_);
        if (auto made = start_call<Bound>(where, when_full::refuse_unready, call_); made.valid()) [[likely]]
          return made;
        std::stop_source stopped;  // the receiver's token may be of any type
        const auto request = [&stopped]() noexcept { stopped.request_stop(); };
        using request_when_stopped = typename stop_callback_of<typename base::stop_token, decltype(request)>::type;
        const request_when_stopped on_stop(std::move(stop), request);
        const std::stop_token token = stopped.get_token();
        const ham::detail::token_of_next_call ends_wait(&token);
        return start_call<Bound>(where, when_full::wait, call_);
      }
    }
    return start_call<Bound>(to_, when_full::wait, call_);
  }

  destination to_;
  Bound call_;
};

/// Waits for a future when it is started.
template <class Result, class Receiver>
class future_operation : public sender_operation<Result, Receiver> {
  using base = sender_operation<Result, Receiver>;

 public:
  future_operation(future<Result>&& of, Receiver&& receiver)
      : base(static_cast<Receiver&&>(receiver)), of_(std::move(of)) {}

  void start() & noexcept {
    if (of_.valid())
      this->follow(std::move(of_));
    else
      this->fail(no_result());
  }

 private:
  future<Result> of_;
};

}  // namespace ham::offload::detail
