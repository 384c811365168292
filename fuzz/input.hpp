// What a fuzzer is fed with, read piece by piece; and what it does when something holds that must not.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

namespace ham::inline v1::fuzz {

/// Ends the process as a finding.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "finding: %s\n", what);
  std::abort();
}

/// Zeros follow the last byte.
class input {
 public:
  input(const std::uint8_t* data, std::size_t size) : rest_(reinterpret_cast<const std::byte*>(data), size) {}

  [[nodiscard]] bool empty() const { return rest_.empty(); }
  [[nodiscard]] std::size_t size() const { return rest_.size(); }

  template <class T>
  requires std::is_integral_v<T>
  [[nodiscard]] T number() {
    T value = 0;
    const auto from = take(sizeof(T));
    if (!from.empty()) std::memcpy(&value, from.data(), from.size());
    return value;
  }
  [[nodiscard]] std::uint8_t byte() { return number<std::uint8_t>(); }
  /// At most `most` bytes.
  [[nodiscard]] std::span<const std::byte> take(std::size_t most) {
    const auto taken = rest_.first(std::min(most, rest_.size()));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }
  [[nodiscard]] std::span<const std::byte> rest() { return take(rest_.size()); }
  [[nodiscard]] std::string_view text() {
    const auto all = rest();
    return {reinterpret_cast<const char*>(all.data()), all.size()};
  }

 private:
  std::span<const std::byte> rest_;
};

}  // namespace ham::fuzz

#define HAM_FUZZ(name)                                                                \
  static void one_run(ham::fuzz::input name);                                         \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) { \
    one_run(ham::fuzz::input(data, size));                                            \
    return 0;                                                                         \
  }                                                                                   \
  static void one_run([[maybe_unused]] ham::fuzz::input name)
