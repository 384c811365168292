// ham::migratable: a value in the form in which it crosses (paper 3, "migratable" types).
#pragma once

#include <type_traits>
#include <utility>

namespace ham {

/// Holds a value of type T, made from anything that T can be made from, and gives it back as `const T&`.
///
/// Users may specialise it for their type to say how the type crosses: the sender builds a `migratable<T>` from the
/// value, the *bytes of that object* travel, and the receiver converts them back to T. Such a specialisation has no
/// pointers, is constructible from `const T&` and convertible to `T` or `const T&`. (For values of varying size
/// specialise ham::codec instead.)
template <class T>
class migratable {
 public:
  /// Tells this general definition from users' specialisations, which do not have it.
  using ham_primary_template = void;

  template <class... Compatible>
  requires std::is_constructible_v<T, Compatible...> migratable(Compatible&&... from)
      : value_(std::forward<Compatible>(from)...) {}

  operator const T&() const noexcept { return value_; }

 private:
  T value_;
};

namespace msg::detail {

template <class T>
concept has_primary_migratable = requires {
  typename migratable<T>::ham_primary_template;
};

template <class T>
consteval bool has_own_migratable() {
  if constexpr (std::is_array_v<T> || std::is_abstract_v<T> || !std::is_object_v<T> || !std::is_destructible_v<T>) {
    return false;
  } else {
    return !has_primary_migratable<T>;
  }
}

}  // namespace msg::detail
}  // namespace ham
