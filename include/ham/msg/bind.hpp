// Callables with values of their own that cross: bind(f, values...), for lambdas that would capture strings or
// containers.
//
//   sync(1, ham::bind([](const std::string& name, int k) { ... }, name), 3);    // instead of [name](int k) { ... }
#pragma once

#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "ham/msg/callable.hpp"
#include "ham/msg/codec.hpp"
#include "ham/msg/embedded_pointers.hpp"
#include "ham/msg/layout.hpp"
#include "ham/msg/std_forward.hpp"

namespace ham::inline v1 {

/// What bind() makes: a callable and the first values that it is called with. Both are its own. It can be called where
/// it stands as well; copyable and movable as they are.
template <class Callable, class... Values>
class binding {
 public:
  /// As bind(callable, values...).
  template <class... Args>
  explicit constexpr binding(std::in_place_t, Callable callable, Args&&... values)
      : callable_(std::move(callable)), values_(static_cast<Args&&>(values)...) {}

  /// Calls it with the values, then `args`.
  template <class... Args>
  requires std::is_invocable_v<const Callable&, const Values&..., Args...>
  constexpr std::invoke_result_t<const Callable&, const Values&..., Args...> operator()(Args&&... args) const {
    return std::apply(
        [&](const Values&... values) -> decltype(auto) { return callable_(values..., static_cast<Args&&>(args)...); },
        values_);
  }

  /// What is called; lives as long as this object.
  [[nodiscard]] constexpr const Callable& callable() const noexcept { return callable_; }
  /// The first arguments; live as long as this object.
  [[nodiscard]] constexpr const std::tuple<Values...>& values() const noexcept { return values_; }

 private:
  [[no_unique_address]] Callable callable_;
  std::tuple<Values...> values_;
};

/// Its bytes may hold what cannot cross.
template <class Callable, class... Values>
struct is_bitwise_copyable<binding<Callable, Values...>> : std::false_type {};

/// Sends the values by their codecs, and of the callable what it is made of; of a function nothing.
template <class Callable, class... Values>
requires(msg::crosses<Callable> && (msg::crosses<Values> && ...)) struct codec<binding<Callable, Values...>> {
  using bound = binding<Callable, Values...>;  ///< what crosses

  /// Bytes of the values, and of the callable if it has any.
  static std::size_t size(const bound& of) {
    const std::size_t values =
        std::apply([](const Values&... each) { return (std::size_t{0} + ... + msg::encoded_size(each)); }, of.values());
    if constexpr (std::is_empty_v<Callable>)
      return values;
    else
      return values + msg::encoded_size(of.callable());
  }
  /// Writes the callable, if it has bytes, then the values.
  static void write(msg::writer& to, const bound& of) {
    if constexpr (!std::is_empty_v<Callable>) msg::encode(to, of.callable());
    std::apply([&to](const Values&... each) { (msg::encode(to, each), ...); }, of.values());
  }
  /// Reads them in the same order. Throws ham::protocol_error for bytes that are none.
  static bound read(msg::reader& from) {
    if constexpr (std::is_empty_v<Callable>)
      return from_parts(empty(), msg::decode<std::tuple<Values...>>(from));
    else {
      Callable callable = msg::decode<Callable>(from);
      return from_parts(std::move(callable), msg::decode<std::tuple<Values...>>(from));
    }
  }
  /// "bind:", then the layouts of what write() writes.
  static std::string layout() {
    if constexpr (std::is_empty_v<Callable>)
      return "bind:" + msg::layout_text<std::tuple<Values...>>();
    else
      return "bind:" + msg::layout_text<Callable>() + msg::layout_text<std::tuple<Values...>>();
  }

 private:
  /// An object without state; lambdas have no default constructor if they have a capture list.
  static Callable empty() {
    if constexpr (std::is_default_constructible_v<Callable>) {
      return Callable{};
    } else {
      constexpr std::byte nothing[sizeof(Callable)]{};
      return msg::detail::object_from_bytes<Callable>(nothing);
    }
  }
  static bound from_parts(Callable callable, std::tuple<Values...> values) {
    return std::apply(
        [&callable](Values&... each) { return bound(std::in_place, std::move(callable), std::move(each)...); }, values);
  }
};

namespace msg {
namespace detail {

template <class Callable, class Indices, class... Values>
struct binding_report;
template <class Callable, std::size_t... Index, class... Values>
struct binding_report<Callable, std::index_sequence<Index...>, Values...>
    : std::conditional_t<crosses<Callable>, std::type_identity<std::index_sequence<Index...>>,
                         std::type_identity<callable_cannot_cross<Callable>>>::type,
      std::conditional_t<crosses<Values>, std::type_identity<std::integral_constant<std::size_t, Index>>,
                         crossing_error<Values, place_of_argument(Index)>>::type... {};

/// Placeholders and what std::bind has made, which only std::bind gives a meaning; without <functional> there are none.
template <class Value>
concept means_std_bind = requires {
  requires std::is_placeholder<Value>::value != 0;
}
|| made_by_std_bind<Value>;

/// What is bound may be or hold a pointer as an object that crosses alone may.
template <class Callable, class... Values>
struct mere_address<binding<Callable, Values...>> : mere_address<core_type_t<Callable>> {};
template <class Callable, class... Values>
struct pointer_holder_of<binding<Callable, Values...>, true> : first_pointer_holder<Callable, Values...> {};

}  // namespace detail

/// Which of its parts cannot.
template <class Callable, class... Values>
struct callable_cannot_cross<binding<Callable, Values...>>
    : detail::binding_report<Callable, std::index_sequence_for<Values...>, Values...> {};

}  // namespace msg

/// Binds the first arguments of a callable to values, which it owns and which cross with it by their codecs: strings,
/// containers, types with HAM_FIELDS, whatever may be an argument. For where a lambda would capture them, which crosses
/// only if all that it captures crosses by its bytes. `callable` is fn<&function>, a lambda without such captures, or a
/// function object; named(), pooled() and with_policy() go around what it gives. Values are copied, or moved in.
/// What cannot cross is a compile error at the call that sends it. Calls with placeholders of the standard library are
/// left to std::bind, in programs that use both namespaces.
template <class Callable, class... Values>
requires(std::is_class_v<std::remove_cvref_t<Callable>> && sizeof...(Values) != 0 &&
         !(msg::detail::means_std_bind<std::decay_t<Values>> || ...))
    [[nodiscard]] constexpr auto bind(Callable&& callable, Values&&... values)
        -> binding<std::decay_t<Callable>, std::decay_t<Values>...> {
  return binding<std::decay_t<Callable>, std::decay_t<Values>...>(std::in_place, static_cast<Callable&&>(callable),
                                                                  static_cast<Values&&>(values)...);
}

}  // namespace ham
