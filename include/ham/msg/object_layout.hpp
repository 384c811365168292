// The layout in memory of objects that cross as their bytes: type, place and bits of each member, found without any
// help of the class. Only for aggregates; the layout of other classes is their size and alignment.
#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "ham/msg/codec_core.hpp"
#include "ham/msg/layout.hpp"
#include "ham/msg/member_list.hpp"

namespace ham::inline v1::msg::detail {

/// Each is tried out, array elements singly, which takes the compiler time.
inline constexpr std::size_t max_described_members = 24;

/// Stands for a member of any type where only it is asked whether something compiles.
template <class Whole>
struct any_member {
  template <class Object>
  requires(!std::is_same_v<std::remove_cv_t<Object>, Whole>) operator Object() const noexcept;
};
template <class Whole>
struct any_base {
  template <class Object>
  requires(std::is_base_of_v<Object, Whole> && !std::is_same_v<std::remove_cv_t<Object>, Whole>) operator Object()
      const noexcept;
};
struct any_union {
  template <class Object>
  requires std::is_union_v<Object>
  operator Object() const noexcept;
};

template <class Whole, std::size_t>
using any_member_at = any_member<Whole>;

/// Whether Object{m, m, ... before ..., {m, m, ... inner ...}, m, m, ... after ...} compiles.
template <class Object, std::size_t... Before, std::size_t... Inner, std::size_t... After>
constexpr bool takes_nested(std::index_sequence<Before...>, std::index_sequence<Inner...>,
                            std::index_sequence<After...>) {
  return requires {
    Object{any_member_at<Object, Before>{}..., {any_member_at<Object, Inner>{}...}, any_member_at<Object, After>{}...};
  };
}
template <class Object, std::size_t... Before, class Last>
constexpr bool takes_then(std::index_sequence<Before...>, std::type_identity<Last>) {
  return requires { Object{any_member_at<Object, Before>{}..., Last{}}; };
}
template <class Object, std::size_t... Before>
constexpr bool takes_then_nothing(std::index_sequence<Before...>) {
  return requires { Object{any_member_at<Object, Before>{}..., {}}; };
}
template <class Object, std::size_t... Before>
constexpr bool takes(std::index_sequence<Before...>) {
  return requires { Object{any_member_at<Object, Before>{}...}; };
}

/// The largest number of initialisers that Object takes; array members count one for each element.
template <class Object, std::size_t At = max_described_members>
constexpr std::size_t initialisers() {
  if constexpr (takes<Object>(std::make_index_sequence<At>())) {
    return At;
  } else if constexpr (At > 0) {
    return initialisers<Object, At - 1>();
  } else {
    return 0;
  }
}

/// How many of the `Count` initialisers of Object belong to the member that begins at initialiser `At`: more than one
/// for an array.
template <class Object, std::size_t Count, std::size_t At, std::size_t Width>
constexpr std::size_t width_of_member() {
  if constexpr (Width <= 1) {
    return 1;
  } else {
    constexpr std::size_t after = Count - At - Width;
    constexpr bool fits = takes_nested<Object>(std::make_index_sequence<At>(), std::make_index_sequence<Width>(),
                                               std::make_index_sequence<after>());
    constexpr bool more = takes_nested<Object>(std::make_index_sequence<At>(), std::make_index_sequence<Width>(),
                                               std::make_index_sequence<after + 1>());
    if constexpr (fits && !more) {
      return Width;
    } else {
      return width_of_member<Object, Count, At, Width - 1>();
    }
  }
}

/// 0 when a member is a union, whose content nobody knows.
template <class Object, std::size_t Count, std::size_t At = 0, std::size_t Members = 0>
constexpr std::size_t count_members() {
  if constexpr (At == Count) {
    return Members;
  } else if constexpr (takes_then<Object>(std::make_index_sequence<At>(), std::type_identity<any_union>())) {
    return 0;
  } else {
    return count_members<Object, Count, At + width_of_member<Object, Count, At, Count - At>(), Members + 1>();
  }
}

/// Number of members of an aggregate; 0 if it is not certain.
template <class Object>
constexpr std::size_t member_count() {
  if constexpr (!std::is_class_v<Object> || !std::is_aggregate_v<Object> ||
                requires { std::tuple_size<Object>::value; }) {
    return 0;
  } else if constexpr (takes_then<Object>(std::index_sequence<>(), std::type_identity<any_base<Object>>())) {
    return 0;
  } else {
    constexpr std::size_t count = initialisers<Object>();
    // A further {} means that a member is there which any_member could not stand for, or that there are too many.
    if constexpr (count == 0 || takes_then_nothing<Object>(std::make_index_sequence<count>())) {
      return 0;
    } else {
      return count_members<Object, count>();
    }
  }
}

template <class Object>
inline constexpr bool is_complex_v = false;
template <class Object>
inline constexpr bool is_complex_v<std::complex<Object>> = std::is_floating_point_v<Object>;
template <class Object>
inline constexpr bool is_std_array_v = false;
template <class Object, std::size_t Size>
inline constexpr bool is_std_array_v<std::array<Object, Size>> = true;

/// "member@offset,..." of a class of the library that is no aggregate; said beside the class.
template <class Object>
inline constexpr const char* known_members_v = nullptr;

template <class Object>
void append_object(std::string& to);

/// The bytes of a value that lies in an object, as they are in memory.
template <class Object>
void append_member(std::string& to) {
  if constexpr (std::is_array_v<Object>) {
    append(to, "array<");
    append_member<std::remove_extent_t<Object>>(to);
    append(to, ",", std::extent_v<Object>, ">");
  } else if constexpr (std::is_arithmetic_v<Object> || std::is_enum_v<Object> || is_complex_v<Object>) {
    append_layout<Object>(to);
  } else {
    append_object<Object>(to);
  }
}

/// Not a constant to the compiler, which would warn that a bit-field does not hold all of it.
[[nodiscard]] inline unsigned long long all_bits() noexcept {
  static const volatile unsigned long long bits = ~0ULL;
  return bits;
}

/// Writes the members of an object of zeros.
class object_members {
 public:
  object_members(std::string& to, std::byte* object, std::size_t size) : to_(to), object_(object), size_(size) {}

  template <class Object>
  void at(const volatile void* member) {
    add<Object>(static_cast<std::size_t>(static_cast<const volatile std::byte*>(member) - object_));
  }
  /// A member that nothing can be found out about.
  template <class Object>
  void unknown() {
    append(to_, separator(), "opaque<constant,", sizeof(Object), ",", alignof(Object), ">");
  }
  /// A member of which all bits have just been set: in its place, or only some of it if it is a bit-field.
  template <class Object>
  void bits() {
    std::size_t first = 0;
    std::size_t last = size_;
    while (first < size_ && object_[first] == std::byte{}) ++first;
    while (last > first && object_[last - 1] == std::byte{}) --last;
    bool whole = last - first == sizeof(Object);
    for (std::size_t index = first; index < last; ++index) {
      whole = whole && object_[index] == (std::is_same_v<Object, bool> ? std::byte{1} : std::byte{0xff});
    }
    whole ? add<Object>(first) : add_bits(first, last);
    std::memset(object_, 0, size_);
  }

 private:
  template <class Object>
  void add(std::size_t offset) {
    to_ += separator();
    append_member<std::remove_cv_t<Object>>(to_);
    append(to_, "@", offset);
  }
  void add_bits(std::size_t first, std::size_t last) {
    append(to_, separator(), "bits");
    for (std::size_t index = first; index < last; ++index) {
      constexpr const char* digits = "0123456789abcdef";
      to_ += digits[std::to_integer<unsigned>(object_[index]) >> 4U];
      to_ += digits[std::to_integer<unsigned>(object_[index]) & 15U];
    }
    append(to_, "@", first);
  }
  const char* separator() { return std::exchange(first_, false) ? ":" : ","; }

  std::string& to_;
  std::byte* object_;
  std::size_t size_;
  bool first_ = true;
};

// Integers may be bit-fields, which have no address: members are handled by name.
#define HAM_OBJECT_MEMBER(NAME)                                                           \
  if constexpr (!std::is_integral_v<decltype(NAME)> && !std::is_enum_v<decltype(NAME)>) { \
    out.at<decltype(NAME)>(std::addressof(NAME));                                         \
  } else if constexpr (std::is_const_v<decltype(NAME)>) {                                 \
    out.unknown<decltype(NAME)>();                                                        \
  } else {                                                                                \
    NAME = static_cast<std::remove_cv_t<decltype(NAME)>>(all_bits());                     \
    out.bits<std::remove_cv_t<decltype(NAME)>>();                                         \
  }
#define HAM_OBJECT_MEMBERS(COUNT)                 \
  if constexpr (Count == COUNT) {                 \
    auto& [HAM_MEMBER_NAMES(COUNT)] = object;     \
    HAM_FOR_EACH_MEMBER(COUNT, HAM_OBJECT_MEMBER) \
  }

template <class Object, std::size_t Count>
void append_members(std::string& to) {
  alignas(Object) std::byte storage[sizeof(Object)] = {};
  Object& object = *std::launder(reinterpret_cast<Object*>(storage));
  object_members out(to, storage, sizeof(Object));
  HAM_FOR_EACH_MEMBER_COUNT(HAM_OBJECT_MEMBERS)
}

#undef HAM_OBJECT_MEMBERS
#undef HAM_OBJECT_MEMBER

/// Of the standard library, which lays out std::tuple as it likes.
#ifdef _LIBCPP_VERSION
inline constexpr const char* standard_library = "libc++";
#else
inline constexpr const char* standard_library = "libstdc++";
#endif

/// "object<name,size,alignment:member@offset,...>", or "opaque<name,size,alignment>" where members cannot be told; with
/// the standard library behind it where members are probably types of that.
template <class Object>
void append_object(std::string& to) {
  if constexpr (is_std_array_v<Object>) {
    if constexpr (std::tuple_size_v<Object> != 0) {
      append_member<typename Object::value_type[std::tuple_size_v<Object>]>(to);
      return;
    }
  }
  constexpr std::size_t members = member_count<Object>();
  append(to, members == 0 && known_members_v<Object> == nullptr ? "opaque<" : "object<");
  append_name<Object>(to);
  append(to, ",", sizeof(Object), ",", alignof(Object));
  if constexpr (known_members_v<Object> != nullptr) {
    append(to, ":", known_members_v<Object>);
  } else if constexpr (members != 0) {
    append_members<Object, members>(to);
  } else if constexpr (byte_copies_of<Object>() == byte_copies::only_copied) {
    append(to, ",", standard_library);
  }
  append(to, ">");
}

}  // namespace ham::msg::detail
