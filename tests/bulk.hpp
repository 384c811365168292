// Many elements at once, for tests that move much: in a sanitizer's build, which is not optimised, a loop of calls to
// operators takes a hundred times as long as one of pointers. What is read and written is checked all the same.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

namespace ham::inline v1::test {

/// How often something is repeated: `many` times, or `few` under a sanitizer, where it takes ten times as long.
template <class Count>
[[nodiscard]] constexpr Count unless_sanitized([[maybe_unused]] Count many, [[maybe_unused]] Count few) {
#ifdef HAM_TEST_SANITIZED
  return few;
#else
  return many;
#endif
}

/// Bytes that grow by `step` from `first` on.
[[nodiscard]] inline std::vector<std::byte> growing_bytes(std::size_t size, std::size_t step, std::size_t first) {
  std::vector<std::byte> result(size);
  std::byte* const at = result.data();
  const std::size_t period = std::min<std::size_t>(size, 256);
  for (std::size_t i = 0; i < period; ++i) at[i] = static_cast<std::byte>(i * step + first);
  for (std::size_t made = period; made < size;) {
    const std::size_t more = std::min(made, size - made);
    std::memcpy(at + made, at, more);
    made += more;
  }
  return result;
}

/// Of types whose equal values have equal bytes.
template <class T>
[[nodiscard]] bool same_bytes(const std::vector<T>& one, const std::vector<T>& other) {
  return one.size() == other.size() &&
         (one.empty() || std::memcmp(one.data(), other.data(), one.size() * sizeof(T)) == 0);
}

/// Numbers from `start` on.
template <class T>
[[nodiscard]] std::vector<T> numbered(std::size_t size, T start) {
  std::vector<T> result(size);
  T* const end = result.data() + size;
  for (T* at = result.data(); at != end; ++at) {
    *at = start;
    start += 1;
  }
  return result;
}

template <class Sum, class T>
[[nodiscard]] Sum sum_of(const T* at, std::size_t size) {
  Sum sum{};
  for (const T* const end = at + size; at != end; ++at) sum += static_cast<Sum>(*at);
  return sum;
}

}  // namespace ham::test
