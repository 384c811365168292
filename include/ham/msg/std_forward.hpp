// Declarations of the standard types that have codecs, without the headers that define them: a program that passes a
// std::map includes <map> anyway, and the others do not wait for their compiler to read it.
#pragma once

#include <cstddef>
#include <type_traits>

// The standard leaves no portable way. This is libstdc++'s; elsewhere, and in its modes that rename the containers, the
// headers themselves are read.
#if defined(__GLIBCXX__) && !defined(_GLIBCXX_DEBUG) && !defined(_GLIBCXX_PARALLEL) && !_GLIBCXX_INLINE_VERSION

#pragma GCC visibility push(default)
namespace std {
_GLIBCXX_BEGIN_NAMESPACE_VERSION

template <class>
class complex;
template <class>
class reference_wrapper;
template <class>
struct is_bind_expression;
template <class>
struct is_placeholder;
struct type_index;
class error_code;
class error_condition;
template <class, size_t>
struct array;

namespace chrono {
template <class, class>
struct duration;
template <class, class>
struct time_point;
inline namespace _V2 {
struct steady_clock;
}
}  // namespace chrono

_GLIBCXX_BEGIN_NAMESPACE_CONTAINER

struct _Bit_reference;
template <size_t>
class bitset;
template <class, class>
class deque;
template <class, class>
class forward_list;
template <class, class, class, class>
class map;
template <class, class, class, class>
class multimap;
template <class, class, class>
class set;
template <class, class, class>
class multiset;
template <class, class, class, class, class>
class unordered_map;
template <class, class, class, class, class>
class unordered_multimap;
template <class, class, class, class>
class unordered_set;
template <class, class, class, class>
class unordered_multiset;
#if _GLIBCXX_USE_CXX11_ABI
inline namespace __cxx11 {
template <class, class>
class list;
}
#else
template <class, class>
class list;
#endif

_GLIBCXX_END_NAMESPACE_CONTAINER
_GLIBCXX_END_NAMESPACE_VERSION
}  // namespace std
#pragma GCC visibility pop

namespace ham::inline v1::msg::detail {
using bit_reference = std::_Bit_reference;  // of std::vector<bool>
}

#else

#include <array>
#include <bitset>
#include <chrono>
#include <complex>
#include <deque>
#include <forward_list>
#include <functional>
#include <list>
#include <map>
#include <set>
#include <system_error>
#include <typeindex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace ham::inline v1::msg::detail {
using bit_reference = std::vector<bool>::reference;
}

#endif
