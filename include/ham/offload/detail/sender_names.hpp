// The vocabulary of senders and receivers that senders.hpp is written with: std::execution, stdexec, or the little of
// it that HAM brings itself. Internal; programs use it as ham::offload::execution.
#pragma once

#include <version>

// Senders of the three are different types, also in one program: HAM_SENDERS is the inline namespace they are in.
#if defined(HAM_STDEXEC)
#define HAM_SENDERS senders_of_stdexec
#include "ham/offload/detail/sender_names_stdexec.hpp"
#elif defined(__cpp_lib_senders)
#define HAM_SENDERS senders_of_std
#include "ham/offload/detail/sender_names_std.hpp"
#else
#define HAM_SENDERS senders_alone
#include "ham/offload/detail/sender_names_alone.hpp"
#endif

#include <concepts>
#include <stop_token>
#include <type_traits>
#include <utility>

namespace ham::inline v1::offload::detail::inline HAM_SENDERS {

template <class Receiver>
using stop_token_of =
    std::remove_cvref_t<decltype(execution::get_stop_token(execution::get_env(std::declval<const Receiver&>())))>;

/// Known from its type alone.
template <class Token>
concept stops_never = requires {
  requires !Token::stop_possible();
};

/// What calls a Function when the token is stopped. std::stop_token has no such member before C++26.
template <class Token, class Function>
struct stop_callback_of {
  using type = typename Token::template callback_type<Function>;
};
template <class Function>
struct stop_callback_of<std::stop_token, Function> {
  using type = std::stop_callback<Function>;
};

/// How a call whose function returns Result completes.
template <class Result>
struct completions_with {
  using type = execution::completion_signatures<execution::set_value_t(Result),
                                                execution::set_error_t(std::exception_ptr), execution::set_stopped_t()>;
};
template <>
struct completions_with<void> {
  using type = execution::completion_signatures<execution::set_value_t(), execution::set_error_t(std::exception_ptr),
                                                execution::set_stopped_t()>;
};

/// What all senders of HAM say of themselves, in the spellings of C++26 and of earlier drafts.
template <class Result>
struct sender_of {
  using sender_concept = execution::sender_tag;
  using completion_signatures = typename completions_with<Result>::type;
  template <class Self, class... Env>
  static consteval auto get_completion_signatures() noexcept -> typename completions_with<Result>::type {
    return {};
  }
};

}  // namespace ham::offload::detail
