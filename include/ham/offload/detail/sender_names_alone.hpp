// The names of P2300 (C++26, clause [exec]) that senders need, for programs without a library that has them. Internal.
// The protocol is that of C++26: everything is a member of senders, receivers, operation states and environments.
#pragma once

#include <exception>
#include <type_traits>
#include <utility>

namespace ham::inline v1::offload::execution {

struct sender_tag {};
struct receiver_tag {};
struct operation_state_tag {};

/// How an operation may end: set_value_t(Values...), set_error_t(Error), set_stopped_t().
template <class... Signatures>
struct completion_signatures {};

struct set_value_t {
  template <class Receiver, class... Values>
  void operator()(Receiver&& receiver, Values&&... values) const noexcept {
    static_assert(noexcept(static_cast<Receiver&&>(receiver).set_value(static_cast<Values&&>(values)...)),
                  "ham: set_value of a receiver must be noexcept");
    static_cast<Receiver&&>(receiver).set_value(static_cast<Values&&>(values)...);
  }
};
struct set_error_t {
  template <class Receiver, class Error>
  void operator()(Receiver&& receiver, Error&& error) const noexcept {
    static_assert(noexcept(static_cast<Receiver&&>(receiver).set_error(static_cast<Error&&>(error))),
                  "ham: set_error of a receiver must be noexcept");
    static_cast<Receiver&&>(receiver).set_error(static_cast<Error&&>(error));
  }
};
struct set_stopped_t {
  template <class Receiver>
  void operator()(Receiver&& receiver) const noexcept {
    static_assert(noexcept(static_cast<Receiver&&>(receiver).set_stopped()),
                  "ham: set_stopped of a receiver must be noexcept");
    static_cast<Receiver&&>(receiver).set_stopped();
  }
};
inline constexpr set_value_t set_value{};
inline constexpr set_error_t set_error{};
inline constexpr set_stopped_t set_stopped{};

/// An environment that knows nothing: of objects without get_env().
struct empty_env {};

struct get_env_t {
  template <class Object>
  [[nodiscard]] constexpr decltype(auto) operator()(const Object& of) const noexcept {
    if constexpr (requires { of.get_env(); })
      return of.get_env();
    else
      return empty_env{};
  }
};
inline constexpr get_env_t get_env{};

/// The stop token of an environment that has none.
struct never_stop_token {
  [[nodiscard]] static constexpr bool stop_requested() noexcept { return false; }
  [[nodiscard]] static constexpr bool stop_possible() noexcept { return false; }
  constexpr bool operator==(const never_stop_token&) const noexcept = default;
};

/// A query: an environment answers it by its member query(get_stop_token_t), with a std::stop_token or a class like it
/// that has a member callback_type<Function>.
struct get_stop_token_t {
  template <class Env>
  [[nodiscard]] constexpr auto operator()(const Env& of) const noexcept {
    if constexpr (requires { of.query(get_stop_token_t{}); })
      return of.query(get_stop_token_t{});
    else
      return never_stop_token{};
  }
};
inline constexpr get_stop_token_t get_stop_token{};

struct connect_t {
  template <class Sender, class Receiver>
  [[nodiscard]] constexpr auto operator()(Sender&& sender, Receiver&& receiver) const {
    return static_cast<Sender&&>(sender).connect(static_cast<Receiver&&>(receiver));
  }
};
struct start_t {
  template <class Operation>
  constexpr void operator()(Operation& operation) const noexcept {
    operation.start();
  }
};
inline constexpr connect_t connect{};
inline constexpr start_t start{};

template <class Sender, class Env = empty_env>
using completion_signatures_of_t =
    decltype(std::remove_cvref_t<Sender>::template get_completion_signatures<Sender, Env>());

}  // namespace ham::offload::execution
