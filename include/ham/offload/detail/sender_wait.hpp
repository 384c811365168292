// How sync_wait() waits for a sender. Internal.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <optional>
#include <system_error>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>

#include "ham/offload/detail/local_result.hpp"
#include "ham/offload/detail/sender_names.hpp"
#include "ham/offload/detail/sender_on_node.hpp"
#include "ham/offload/detail/sender_operation.hpp"
#include "ham/offload/future.hpp"

namespace ham::inline v1::offload::detail::inline HAM_SENDERS {

/// The environment of what is waited for: it has no stop token and no scheduler.
struct wait_env {};

template <class Signature>
struct values_in : std::type_identity<std::tuple<>> {};
template <class... Values>
struct values_in<execution::set_value_t(Values...)>
    : std::type_identity<std::tuple<std::tuple<std::decay_t<Values>...>>> {};

/// All ways in which it may have a value, as a tuple of tuples.
template <class Signatures>
struct values_among;
template <template <class...> class List, class... Signatures>
struct values_among<List<Signatures...>>
    : std::type_identity<decltype(std::tuple_cat(std::declval<typename values_in<Signatures>::type>()...))> {};

template <class Sender>
struct waited_for {
  using all = typename values_among<execution::completion_signatures_of_t<Sender, wait_env>>::type;
  static_assert(std::tuple_size_v<all> == 1,
                "ham: sync_wait(sender) needs a sender that has a value in exactly one way (into_variant of the sender "
                "library makes one of many)");
  using type = std::tuple_element_t<0, all>;
};

template <class Error>
[[nodiscard]] std::exception_ptr as_exception(Error&& error) noexcept {
  if constexpr (std::is_same_v<std::decay_t<Error>, std::exception_ptr>)
    return static_cast<Error&&>(error);
  else if constexpr (std::is_same_v<std::decay_t<Error>, std::error_code>)
    return std::make_exception_ptr(std::system_error(error));
  else
    return std::make_exception_ptr(static_cast<Error&&>(error));
}

/// What the waiting thread and the receiver share.
template <class Values>
struct awaited {
  std::uint64_t runtime = 0;
  call_slot* slot = nullptr;
  std::optional<Values> values{};
  std::exception_ptr error{};
  std::atomic<bool> done{false};
  std::thread::id waiter = std::this_thread::get_id();

  /// Any thread. Afterwards this may have gone.
  void finish() noexcept {
    const std::uint64_t in = runtime;
    const bool elsewhere = std::this_thread::get_id() != waiter;
    call_slot& woken = *slot;
    done.store(true, std::memory_order_release);
    if (elsewhere)
      deliver<void>(in, woken, {});
    else
      fulfil<void>(woken, [] {});  // this thread waits for it: it cannot have gone, and nothing is allocated
  }
};

template <class Values>
struct waiting_receiver {
  using receiver_concept = execution::receiver_tag;

  awaited<Values>* of;

  template <class... Given>
  void set_value(Given&&... values) noexcept {
    HAM_TRY { of->values.emplace(static_cast<Given&&>(values)...); }
    HAM_CATCH_ALL { of->error = std::current_exception(); }
    of->finish();
  }
  template <class Error>
  void set_error(Error&& error) noexcept {
    of->error = as_exception(static_cast<Error&&>(error));
    of->finish();
  }
  void set_stopped() noexcept { of->finish(); }
  [[nodiscard]] wait_env get_env() const noexcept { return {}; }
};

/// Senders of HAM that are no part of another one: a future is all that it takes to wait for them.
template <class Sender>
concept is_call_or_future = requires(Sender&& sender) {
  sender_access::begin(static_cast<Sender&&>(sender));
};

template <class Sender>
requires is_call_or_future<Sender>
[[nodiscard]] auto wait_for_sender(Sender&& sender) -> std::optional<typename waited_for<Sender>::type> {
  std::exception_ptr why;
  HAM_TRY {
    auto begun = sender_access::begin(static_cast<Sender&&>(sender));
    begun.wait();
    if (!future_access::slot(begun)->has_failed()) [[likely]] {
      if constexpr (std::is_void_v<typename decltype(begun)::value_type>) {
        begun.get();
        return std::tuple<>();
      } else {
        return typename waited_for<Sender>::type(begun.get());
      }
    }
    why = begun.error();
  }
  HAM_CATCH_ALL { why = std::current_exception(); }
  if (says_cancelled(why)) return std::nullopt;
  rethrow(std::move(why));
}

template <class Sender>
[[nodiscard]] auto wait_for_sender(Sender&& sender) -> std::optional<typename waited_for<Sender>::type> {
  using values = typename waited_for<Sender>::type;
  awaited<values> result;
  engine& at = sender_access::runtime(sender);
  auto operation = execution::connect(static_cast<Sender&&>(sender), waiting_receiver<values>{&result});
  result.runtime = serial_of(at);
  result.slot = make_local_slot(at);
  const auto settled = future_access::make<void>(result.slot);
  execution::start(operation);
  static_cast<void>(settled.has_value());  // no error to be told: that would be the end of the runtime
  // That settles everything; what the operation waits for, too, but perhaps a moment later.
  while (!result.done.load(std::memory_order_acquire)) std::this_thread::yield();
  if (result.error != nullptr) rethrow(std::move(result.error));
  return std::move(result.values);
}

}  // namespace ham::offload::detail
