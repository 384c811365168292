// How results that this process itself makes get into their futures. Internal.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "ham/offload/detail/engine_api.hpp"

namespace ham::inline v1::offload {

template <class Result>
class future;

namespace detail {

using namespace ham::detail;

/// What a function of a result gives.
template <class Function, class Result>
struct then_type {
  using type = std::invoke_result_t<Function, Result>;
};
template <class Function>
struct then_type<Function, void> {
  using type = std::invoke_result_t<Function>;
};

/// A future of a future is one of the inner's result.
template <class Result>
struct unwrapped {
  using type = Result;
  static constexpr bool is_future = false;
};
template <class Result>
struct unwrapped<future<Result>> {
  using type = Result;
  static constexpr bool is_future = true;
};

/// Fills a local slot with what `make` returns or throws. At the end of a runtime it may have settled already.
template <class Result, class Make>
void fulfil(call_slot& slot, Make&& make) noexcept {
  if (slot.settled()) [[unlikely]]
    return;
  slot_state outcome = slot_state::value;
  HAM_TRY {
    if constexpr (std::is_void_v<Result>)
      std::forward<Make>(make)();
    else
      slot_value<Result>::construct(slot, std::forward<Make>(make)());
  }
  HAM_CATCH_ALL {
    ::new (static_cast<void*>(slot.storage)) std::exception_ptr(std::current_exception());
    outcome = slot_state::failed;
  }
  settle_local(slot, outcome);
}

/// The outcome of an operation, outside of a slot.
template <class Result>
struct outcome_of {
  std::conditional_t<std::is_void_v<Result>, bool, std::optional<Result>> value{};
  std::exception_ptr error{};

  /// Of a function of this process.
  template <class Make>
  void fill(Make&& make) noexcept {
    HAM_TRY {
      if constexpr (std::is_void_v<Result>)
        std::forward<Make>(make)();
      else
        value.emplace(std::forward<Make>(make)());
    }
    HAM_CATCH_ALL { error = std::current_exception(); }
  }
  Result take() {
    if (error != nullptr) rethrow(std::exchange(error, nullptr));
    if constexpr (!std::is_void_v<Result>) return *std::move(value);
  }
};

/// Settles a local slot of a runtime from any thread. If that runtime has ended, the slot has settled with it.
template <class Result>
void deliver(std::uint64_t runtime, call_slot& slot, outcome_of<Result>&& what) noexcept {
  const held_engine up(runtime);
  if (!up) return;
  if constexpr (!std::is_void_v<Result>) {
    HAM_TRY {
      if (what.error == nullptr) slot_value<Result>::construct(slot, *std::move(what.value));
    }
    HAM_CATCH_ALL { what.error = std::current_exception(); }
  }
  if (what.error == nullptr) {
    up.settle(slot, slot_state::value);
  } else {
    ::new (static_cast<void*>(slot.storage)) std::exception_ptr(std::move(what.error));
    up.settle(slot, slot_state::failed);
  }
}

}  // namespace detail
}  // namespace ham::offload
