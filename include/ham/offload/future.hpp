// The result of an asynchronous operation on another node.
#pragma once

#include <coroutine>
#include <optional>
#include <type_traits>
#include <utility>

#include "ham/offload/detail/engine_api.hpp"

namespace ham::offload {

template <class Result>
class future;

namespace detail {

using namespace ham::detail;

template <class Function, class Result>
struct then_result {
  using type = std::invoke_result_t<Function, Result>;
};
template <class Function>
struct then_result<Function, void> {
  using type = std::invoke_result_t<Function>;
};

/// Fills a local slot with what `make` returns or throws.
template <class Result, class Make>
void fulfil(call_slot& slot, Make&& make) noexcept {
  slot_state outcome = slot_state::value;
  try {
    if constexpr (std::is_void_v<Result>)
      std::forward<Make>(make)();
    else
      slot_value<Result>::construct(slot, std::forward<Make>(make)());
  } catch (...) {
    ::new (static_cast<void*>(slot.storage)) std::exception_ptr(std::current_exception());
    outcome = slot_state::failed;
  }
  settle_local(slot, outcome);
}

}  // namespace detail

/// Handle to the result of a call (paper 1, Table II). Movable, not copyable; one thread at a time.
///
/// The destructor, and assignment over a valid future, complete the operation first, so a discarded
/// `offload::put(...)` is synchronous; detach() lets go instead. Every future settles: with the value, with the
/// exception that the function threw, with ham::node_failure if the node dies, or with ham::deadline_exceeded.
template <class Result>
class future {
 public:
  using value_type = Result;

  future() noexcept = default;
  explicit future(detail::call_slot* slot) noexcept : slot_(slot) {}
  future(future&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)) {}
  future& operator=(future&& other) noexcept {
    if (this != &other) {
      drop();
      slot_ = std::exchange(other.slot_, nullptr);
    }
    return *this;
  }
  ~future() { drop(); }

  /// True until get(), then(), detach() or a move took the result away.
  [[nodiscard]] bool valid() const noexcept { return slot_ != nullptr; }

  /// True if the result is there; makes progress, does not block. False for an invalid future.
  [[nodiscard]] bool test() {
    if (slot_ == nullptr) return false;
    if (!slot_->settled()) detail::poll_slot(*slot_);
    return slot_->settled();
  }

  /// Blocks until settled; executes calls that arrive meanwhile.
  void wait() const {
    require_valid();
    if (!slot_->settled()) detail::wait_slot(*slot_, INT64_MAX);
  }

  /// As wait(), but not longer than `time`. True if settled.
  template <class Rep, class Period>
  [[nodiscard]] bool wait_for(std::chrono::duration<Rep, Period> time) const {
    require_valid();
    return slot_->settled() || detail::wait_slot(*slot_, detail::time_from_now(time));
  }
  template <class Duration>
  [[nodiscard]] bool wait_until(std::chrono::time_point<std::chrono::steady_clock, Duration> until) const {
    require_valid();
    if (slot_->settled()) return true;
    return detail::wait_slot(*slot_, detail::nanoseconds_of(until.time_since_epoch()));
  }

  /// Blocks until settled and takes the value, or throws what the operation failed with. Invalidates the future.
  Result get() {
    wait();
    detail::call_slot& slot = *std::exchange(slot_, nullptr);
    if (slot.state.load(std::memory_order_acquire) == detail::slot_state::failed) [[unlikely]]
      detail::rethrow_failure(slot);
    if constexpr (std::is_void_v<Result>) {
      detail::release_slot(slot);
    } else {
      const give_back guard{slot};
      return std::move(detail::slot_value<Result>::get(slot));
    }
  }

  /// Lets go: the operation goes on, its result is dropped.
  void detach() noexcept {
    if (slot_ == nullptr) return;
    detail::call_slot& slot = *std::exchange(slot_, nullptr);
    if (detail::abandon_slot(slot)) return;
    struct dropper : detail::continuation {
      detail::call_slot* target = nullptr;
    };
    auto* const later = new dropper;
    later->target = &slot;
    later->run = [](detail::continuation* self) {
      auto* const me = static_cast<dropper*>(self);
      discard(*me->target);
      delete me;
    };
    detail::attach(slot, later);
  }

  /// Runs `function(value)` when the value is there (`function()` for void), on the thread that makes progress, and
  /// gives a future of its result. An error skips the function and goes on to the new future. Invalidates this one.
  /// Continuations begin one by one in the order in which their futures settled; a chain of them takes no stack. The
  /// function must not block for long: while it waits for another result, further continuations and calls run inside
  /// its wait, up to the limit of nesting (docs/thread-model.md).
  template <class Function>
  [[nodiscard]] auto then(Function&& function) -> future<typename detail::then_result<Function, Result>::type> {
    require_valid();
    using result = typename detail::then_result<Function, Result>::type;
    struct chain : detail::continuation {
      chain(future source_, detail::call_slot* next_, Function&& what)
          : source(std::move(source_)), target(next_), function(std::forward<Function>(what)) {
        run = [](detail::continuation* self) { static_cast<chain*>(self)->go(); };
      }
      void go() {
        detail::fulfil<result>(*target, [this]() -> result {
          if constexpr (std::is_void_v<Result>) {
            source.get();
            return std::move(function)();
          } else {
            return std::move(function)(source.get());
          }
        });
        delete this;
      }
      future source;
      detail::call_slot* target;
      std::decay_t<Function> function;
    };
    detail::call_slot* const before = slot_;
    if (before->owner == nullptr) detail::throw_no_runtime();
    detail::call_slot* const next = detail::make_local_slot(*before->owner);
    detail::attach(*before, new chain(std::move(*this), next, std::forward<Function>(function)));
    return future<result>(next);
  }

  /// Runs `what` when this future has settled; it stays valid. Used by when_all, when_any and co_await.
  void on_settled(detail::continuation* what) const {
    require_valid();
    detail::attach(*slot_, what);
  }

  /// `co_await` gives the value or throws. The coroutine goes on in the thread that makes progress, as what then()
  /// runs.
  auto operator co_await() && noexcept {
    struct awaiter : detail::continuation {
      explicit awaiter(future source_) noexcept : source(std::move(source_)) {}
      [[nodiscard]] bool await_ready() const noexcept { return source.slot_ != nullptr && source.slot_->settled(); }
      void await_suspend(std::coroutine_handle<> waiting) {
        coroutine = waiting;
        run = [](detail::continuation* self) { static_cast<awaiter*>(self)->coroutine.resume(); };
        source.on_settled(this);
      }
      Result await_resume() { return source.get(); }
      future source;
      std::coroutine_handle<> coroutine;
    };
    return awaiter(std::move(*this));
  }

 private:
  struct give_back {
    detail::call_slot& slot;
    ~give_back() {
      detail::slot_value<Result>::destroy(slot);
      detail::release_slot(slot);
    }
  };

  void require_valid() const {
    if (slot_ == nullptr) [[unlikely]]
      detail::throw_no_result();
  }

  static void discard(detail::call_slot& slot) noexcept {
    if (slot.state.load(std::memory_order_acquire) == detail::slot_state::failed) {
      detail::slot_error(slot).~exception_ptr();
    } else {
      detail::slot_value<Result>::destroy(slot);
    }
    detail::release_slot(slot);
  }

  void drop() noexcept {
    if (slot_ == nullptr) return;
    detail::call_slot& slot = *std::exchange(slot_, nullptr);
    if (!slot.settled()) detail::wait_slot(slot, INT64_MAX);
    discard(slot);
  }

  detail::call_slot* slot_ = nullptr;
};

/// A future that has its value already; a void one without arguments.
template <class Result, class... Args>
[[nodiscard]] future<Result> make_ready_future(Args&&... args) {
  detail::call_slot* const slot = detail::make_local_slot(detail::current());
  detail::slot_value<Result>::construct(*slot, std::forward<Args>(args)...);
  detail::settle_local(*slot, detail::slot_state::value);
  return future<Result>(slot);
}

}  // namespace ham::offload
