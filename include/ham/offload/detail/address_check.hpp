// The look for addresses in what a call sends by its bytes, in debug builds. Internal.
//
// Compilers tell the members of aggregates, and of lambdas in part (msg/embedded_pointers.hpp); the rest shows when it
// is sent.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>
#include <typeinfo>

#include "ham/msg/codec_core.hpp"
#include "ham/msg/customise.hpp"
#include "ham/offload/detail/engine_api.hpp"

/// 1: calls check the objects they send for addresses on the caller's stack, and report them on stderr. By
/// default in builds that are not optimised and do not define NDEBUG.
#ifndef HAM_CHECK_ADDRESSES
#if !defined(NDEBUG) && !defined(__OPTIMIZE__)
#define HAM_CHECK_ADDRESSES 1
#else
#define HAM_CHECK_ADDRESSES 0
#endif
#endif

namespace ham::inline v1::detail {

/// Says once (`said`) that `object`, of which nothing but its members counts, holds an address on the stack of the
/// calling thread, if it does and `to` is another node.
void report_stack_address(const engine& at, const call_place& to, std::span<const std::byte> object,
                          const std::type_info& type, std::atomic<bool>& said) noexcept;

/// Without a way to clear what lies between the members there may be an old address in it, so nothing is checked.
template <class Value>
inline constexpr bool can_check_addresses = false;
template <class Value>
void check_address(const engine&, const call_place&, const Value&) noexcept {}

#if defined(__has_builtin)
#if __has_builtin(__builtin_clear_padding)
template <class Value>
requires(std::is_class_v<Value> && !std::is_empty_v<Value> && sizeof(Value) >= sizeof(void*) && sizeof(Value) <= 4096 &&
         std::is_trivially_copyable_v<Value>) inline constexpr bool can_check_addresses<Value> = requires {
  typename is_bitwise_copyable<Value>::unless_specialised;
}
&&msg::detail::kind_of<Value>() == msg::detail::codec_kind::bitwise;

template <class Value>
requires can_check_addresses<Value>
void check_address(const engine& at, const call_place& to, const Value& value) noexcept {
  static constinit std::atomic<bool> said{false};
  if (said.load(std::memory_order_relaxed)) return;
  union copy {
    copy() noexcept {}
    Value object;
  } same;
  std::memcpy(static_cast<void*>(&same.object), &value, sizeof value);
  __builtin_clear_padding(&same.object);
  report_stack_address(at, to, std::as_bytes(std::span(&same.object, 1)), typeid(Value), said);
}
#endif
#endif

/// Of a call: its callable and its arguments.
template <class... Values>
void check_addresses(const engine& at, const call_place& to, const Values&... values) noexcept {
  (check_address(at, to, values), ...);
}

}  // namespace ham::detail
