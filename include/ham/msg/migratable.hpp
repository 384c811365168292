// ham::migratable: a value in the form in which it crosses (paper 3, "migratable" types).
#pragma once

#include <type_traits>
#include <utility>

#include "ham/misc/types.hpp"

namespace ham::inline v1 {

/// Holds a value of type Value, made from anything that Value can be made from, and gives it back as `const Value&`.
///
/// Users may specialise it for their type to say how the type crosses: the sender builds a `migratable<Value>` from the
/// value, the *bytes of that object* travel, and the receiver converts them back to Value. Such a specialisation has no
/// pointers, is constructible from `const Value&` and convertible to `Value` or `const Value&`. (For values of varying
/// size specialise ham::codec instead.)
template <class Value>
class migratable {
 public:
  /// Tells this general definition from users' specialisations, which do not have it.
  using ham_primary_template = void;

  /// Makes the value of `from`.
  template <class... Compatible>
  requires std::is_constructible_v<Value, Compatible...> migratable(Compatible&&... from)
      : value_(std::forward<Compatible>(from)...) {}

  /// The value; lives as long as this object.
  operator const Value&() const noexcept { return value_; }

 private:
  Value value_;
};

namespace msg::detail {

template <class Value>
concept has_primary_migratable = requires {
  typename migratable<Value>::ham_primary_template;
};

template <class Value>
consteval bool has_own_migratable() {
  if constexpr (std::is_array_v<Value> || std::is_abstract_v<Value> || !std::is_object_v<Value> ||
                !std::is_destructible_v<Value>) {
    return false;
  } else {
    return !has_primary_migratable<Value>;
  }
}

}  // namespace msg::detail
}  // namespace ham
