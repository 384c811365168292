// Device functions: how they are declared, and the table by which a device finds them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "ham/device/arguments.hpp"
#include "ham/device/place.hpp"

namespace ham::inline v1::device {
namespace detail {

/// One execution of a device function by one thread.
struct execution {
  const std::byte* arguments;
  std::size_t size;
  std::byte* result;   ///< of the thread of rank 0; has room for max_result bytes
  call_status status;  ///< set to what is wrong, if anything is
};
using device_body = void (*)(execution& call);

/// What the device knows of a function. A row without a body: the device has no version of it.
struct table_row {
  device_body body;
  std::uint32_t min_size;     ///< of the arguments
  std::uint32_t result_size;  ///< in bytes
  scope runs_on;
  bool varies;  ///< the arguments may be longer
};

/// Registration of one device function: constant initialisation, static storage. Entries of a library stay loaded.
class function_entry {
 public:
  constexpr function_entry(const std::type_info& function, const table_row& emulated,
                           const void* device_symbol) noexcept
      : type(function), row(emulated), symbol_(device_symbol) {}
  function_entry(const function_entry&) = delete;
  function_entry& operator=(const function_entry&) = delete;

  const std::type_info& type;  ///< of fn<&function>
  const table_row row;         ///< its body is the version that the host's compiler has made

  /// Of a variable of the device with its version's address; nullptr: no compiler for devices has seen the function.
  [[nodiscard]] const void* symbol() const noexcept { return symbol_.load(std::memory_order_relaxed); }
  /// A source that such a compiler has seen says it for those that only the host's compiler has. Always true.
  bool set_symbol(const void* device_symbol) noexcept {
    symbol_.store(device_symbol, std::memory_order_relaxed);
    return true;
  }

  /// Its number in the tables of all devices of this process; given by enlist().
  [[nodiscard]] std::uint32_t number() const noexcept { return number_.load(std::memory_order_relaxed); }
  /// Adds the entry to the list of the process. Further calls do nothing. Any thread.
  void enlist();

 private:
  std::atomic<const void*> symbol_;
  std::atomic<std::uint32_t> number_{UINT32_MAX};
};

/// How many functions the process has, and which. Grows when a library with more of them is loaded.
[[nodiscard]] std::uint32_t count_functions() noexcept;
[[nodiscard]] const function_entry& function_at(std::uint32_t number) noexcept;

/// What HAM_DEVICE_FUNCTION says of a function; not declared in general.
template <class Pointer, Pointer Function>
struct declaration {
  static constexpr bool is_declared = false;
};
template <scope Scope>
struct declared_as {
  static constexpr bool is_declared = true;
  static constexpr scope runs_on = Scope;
};

/// Reading of the arguments, the call, and its result. The constructor keeps the order of the arguments.
template <class Pointer, Pointer Function, class Result>
struct invocation {
  template <class... Values>
  HAM_DEVICE invocation(execution& call, const argument_reader& from, Values&&... values) {
    if (!from.ok()) {
      call.status = call_status::wrong_size;
      return;
    }
    if constexpr (std::is_void_v<Result>) {
      Function(static_cast<Values&&>(values)...);
    } else {
      const Result result = Function(static_cast<Values&&>(values)...);
      if (rank() != 0) return;
      const auto* const bytes = reinterpret_cast<const std::byte*>(&result);
      for (std::size_t at = 0; at < sizeof(Result); ++at) call.result[at] = bytes[at];
    }
  }
};

template <class Pointer, Pointer Function>
struct device_version;
template <class Result, class... Params, Result (*Function)(Params...)>
struct device_version<Result (*)(Params...), Function> {
  using result_type = std::remove_cv_t<Result>;

  HAM_DEVICE static void run(execution& call) {
    argument_reader from(call.arguments, call.size);
    invocation<Result (*)(Params...), Function, result_type>{call, from,
                                                             from.take(static_cast<std::decay_t<Params>*>(nullptr))...};
  }
  static constexpr table_row row(scope runs_on) noexcept {
    std::size_t result_bytes = 0;
    if constexpr (!std::is_void_v<result_type>) result_bytes = sizeof(result_type);
    return {&run, static_cast<std::uint32_t>(min_arguments<std::decay_t<Params>...>()),
            static_cast<std::uint32_t>(result_bytes), runs_on, (argument<std::decay_t<Params>>::varies || ...)};
  }
  /// Instantiated where a type is to blame.
  struct report : std::conditional_t<is_result<result_type>, std::type_identity<result_type>,
                                     type_cannot_come_from_a_device<result_type>> {
    static_assert((sizeof(std::conditional_t<argument<std::decay_t<Params>>::valid, std::type_identity<int>,
                                             type_cannot_go_to_a_device<std::decay_t<Params>>>) +
                   ... + 1) != 0);
  };
};
template <class Result, class... Params, Result (*Function)(Params...) noexcept>
struct device_version<Result (*)(Params...) noexcept, Function> : device_version<Result (*)(Params...), Function> {};

/// The entry of a declared function. Naming entry() in code that is compiled is what registers it.
template <class Pointer, Pointer Function>
class declared_function {
  static bool enlist() {
    entry_.enlist();
    return true;
  }

 public:
  [[nodiscard]] static function_entry& entry() noexcept {
    static_cast<void>(static_cast<const void*>(&enlisted));
    return entry_;
  }
  static inline const bool enlisted = enlist();

 private:
  static constinit inline function_entry entry_{
      typeid(std::integral_constant<Pointer, Function>),
      device_version<Pointer, Function>::row(declaration<Pointer, Function>::runs_on),
      declaration<Pointer, Function>::symbol};
};

}  // namespace detail
}  // namespace ham::device

/// Declares a function, which is marked with HAM_DEVICE, as one that accelerators execute, and by whom:
///
///     HAM_DEVICE double length(ham::offload::buffer_ptr<float> x, std::size_t n);
///     HAM_DEVICE_FUNCTION(length, block)
///
/// In the global namespace, behind the declaration of the function and before its first call, in every source that
/// calls it: beside its declaration in a header. SCOPE is thread, warp, block or grid (ham::device::scope). FUNCTION
/// may be qualified; it is not overloaded. A parameter or result that cannot cross is a compile error which names its
/// type.
#define HAM_DEVICE_FUNCTION(FUNCTION, SCOPE) \
  HAM_DEVICE_FUNCTION_AS(FUNCTION, SCOPE, HAM_DEVICE_NAME(ham_device_version_, __COUNTER__))

#define HAM_DEVICE_FUNCTION_AS(FUNCTION, SCOPE, NAME)                                                            \
  HAM_DEVICE_VARIABLE(FUNCTION, NAME)                                                                            \
  template <>                                                                                                    \
  struct ham::device::detail::declaration<decltype(&FUNCTION), &FUNCTION>                                        \
      : ham::device::detail::declared_as<ham::device::scope::SCOPE> {                                            \
    static constexpr const void* symbol = HAM_DEVICE_SYMBOL(NAME);                                               \
    static_assert(sizeof(typename ham::device::detail::device_version<decltype(&FUNCTION), &FUNCTION>::report)); \
  };                                                                                                             \
  HAM_DEVICE_PROVISION(FUNCTION, NAME)
#define HAM_DEVICE_NAME(BEGIN, NUMBER) HAM_DEVICE_PASTE(BEGIN, NUMBER)
#define HAM_DEVICE_PASTE(BEGIN, NUMBER) BEGIN##NUMBER

// A compiler for devices adds the function's version for the device, which the host finds by this variable. The entry
// may be that of another source, which the host's compiler has read: it is told.
#if defined(__CUDACC__) || defined(__HIPCC__)
#define HAM_DEVICE_VARIABLE(FUNCTION, NAME)                 \
  static __device__ ham::device::detail::device_body NAME = \
      &ham::device::detail::device_version<decltype(&FUNCTION), &FUNCTION>::run;
#define HAM_DEVICE_SYMBOL(NAME) &NAME
#define HAM_DEVICE_PROVISION(FUNCTION, NAME)                             \
  [[maybe_unused]] static const bool HAM_DEVICE_PASTE(NAME, _provided) = \
      ham::device::detail::declared_function<decltype(&FUNCTION), &FUNCTION>::entry().set_symbol(&NAME);
#else
#define HAM_DEVICE_VARIABLE(FUNCTION, NAME)
#define HAM_DEVICE_SYMBOL(NAME) nullptr
#define HAM_DEVICE_PROVISION(FUNCTION, NAME)
#endif
