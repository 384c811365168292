// Writing values into a message and reading them back: two cursors over raw bytes, the lower one of the codec's layers.
#pragma once

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "ham/error.hpp"

namespace ham::inline v1::msg {

/// How deep values of recursive types (a tree with a vector of trees) may be nested. The sender refuses deeper values,
/// the receiver treats them as hostile.
inline constexpr std::uint32_t max_nesting = 64;

namespace detail {

[[noreturn, gnu::cold]] void throw_underrun(std::size_t wanted, std::size_t there);
[[noreturn, gnu::cold]] void throw_malformed(const char* what);
[[noreturn, gnu::cold]] void throw_too_deep();
/// So many bytes of memory that was just allocated are about to be written.
void expect_writes(void* memory, std::size_t bytes) noexcept;
inline constexpr std::size_t worth_expecting = std::size_t{4} << 20;

[[noreturn, gnu::cold]] void throw_overrun(std::size_t wanted, std::size_t there);
[[noreturn, gnu::cold]] void throw_unfilled(std::size_t left, std::size_t size);
[[noreturn, gnu::cold]] void throw_valueless();

/// Neither zero, where pointers may be null, nor more than any object has: GCC, following sums of sizes that wrap
/// around zero, would warn of a memcpy of that much.
constexpr bool is_object_size(std::size_t size) noexcept { return size - 1 < PTRDIFF_MAX; }

/// Arithmetic value <-> its little-endian bytes.
template <class Number>
inline void store_little(std::byte* to, Number value) noexcept {
  std::memcpy(to, &value, sizeof(Number));
  if constexpr (std::endian::native == std::endian::big) {
    for (std::size_t index = 0; index < sizeof(Number) / 2; ++index)
      std::swap(to[index], to[sizeof(Number) - 1 - index]);
  }
}

template <class Number>
inline Number load_little(const std::byte* from) noexcept {
  Number value;
  if constexpr (std::endian::native == std::endian::big) {
    std::byte swapped[sizeof(Number)];
    for (std::size_t index = 0; index < sizeof(Number); ++index) swapped[index] = from[sizeof(Number) - 1 - index];
    std::memcpy(&value, swapped, sizeof(Number));
  } else {
    std::memcpy(&value, from, sizeof(Number));
  }
  return value;
}

}  // namespace detail

/// Cursor that fills a block of memory from front to back. The block is exactly as big as encoded_size() of what is
/// written said; a codec that writes more than that gets ham::call_error, and so does one that writes less from
/// expect_full(). Owns nothing; used by one thread.
class writer {
 public:
  /// Over `size` bytes from `begin` on, which must outlive it.
  writer(std::byte* begin, std::size_t size) noexcept : begin_(begin), cursor_(begin), end_(begin + size) {}

  /// Appends `size` bytes.
  void bytes(const void* from, std::size_t size) {
    std::byte* const to = take(size);
    if (detail::is_object_size(size)) std::memcpy(to, from, size);
  }

  /// Appends one arithmetic value, little-endian.
  template <class Number>
  requires std::is_arithmetic_v<Number>
  void number(Number value) { detail::store_little(take(sizeof(Number)), value); }

  /// Appends the number of elements that follow.
  void count(std::size_t elements) { number(static_cast<std::uint64_t>(elements)); }

  /// Skips `size` bytes and returns their address, for the caller to fill in.
  [[nodiscard]] std::byte* take(std::size_t size) {
    if (size > remaining()) [[unlikely]]
      detail::throw_overrun(size, remaining());
    std::byte* const at = cursor_;
    cursor_ += size;
    return at;
  }

  /// Throws ham::call_error unless the block is full.
  void expect_full() const {
    if (cursor_ != end_) [[unlikely]]
      detail::throw_unfilled(remaining(), static_cast<std::size_t>(end_ - begin_));
  }

  /// Bytes written so far.
  [[nodiscard]] std::size_t written() const noexcept { return static_cast<std::size_t>(cursor_ - begin_); }

  /// Bytes still free.
  [[nodiscard]] std::size_t remaining() const noexcept { return static_cast<std::size_t>(end_ - cursor_); }

 private:
  std::byte* begin_;
  std::byte* cursor_;
  std::byte* end_;
};

/// Cursor over received bytes. Nothing that it reads is trusted: an underrun, a count larger than what can be there and
/// too deep a nesting throw ham::protocol_error; every length is read exactly once, so a peer that changes shared
/// memory meanwhile gains nothing. Owns nothing; used by one thread.
class reader {
 public:
  /// Over these bytes, which must outlive it, and what view() gives.
  reader(const std::byte* begin, std::size_t size) noexcept : cursor_(begin), end_(begin + size) {}
  explicit reader(std::span<const std::byte> bytes) noexcept : reader(bytes.data(), bytes.size()) {}

  /// Copies the next `size` bytes to `to`.
  void bytes(void* to, std::size_t size) {
    const std::byte* const from = skip(size);
    if (detail::is_object_size(size)) std::memcpy(to, from, size);
  }

  /// The next `size` bytes in place. Valid as long as the memory that the reader was made over.
  [[nodiscard]] std::span<const std::byte> view(std::size_t size) { return {skip(size), size}; }

  /// The next arithmetic value, little-endian.
  template <class Number>
  requires std::is_arithmetic_v<Number>
  [[nodiscard]] Number number() { return detail::load_little<Number>(skip(sizeof(Number))); }

  /// A number of elements, each of which takes at least `min_bytes_per_element` (> 0) of what follows.
  [[nodiscard]] std::size_t count(std::size_t min_bytes_per_element) {
    assert(min_bytes_per_element != 0);
    const auto elements = number<std::uint64_t>();
    if (elements > remaining() / min_bytes_per_element) [[unlikely]] {
      detail::throw_malformed("more elements announced than the message has room for");
    }
    return static_cast<std::size_t>(elements);
  }

  /// A byte that must be 0 or 1.
  [[nodiscard]] bool flag() {
    const auto byte = number<std::uint8_t>();
    if (byte > 1) [[unlikely]]
      detail::throw_malformed("a truth value is neither 0 nor 1");
    return byte == 1;
  }

  /// Throws ham::protocol_error unless `size` more bytes are there. Asked before several values of known size are read,
  /// it lets the compiler drop the checks of each.
  void require(std::size_t size) const {
    if (size > remaining()) [[unlikely]]
      detail::throw_underrun(size, remaining());
  }

  /// Bytes not yet read.
  [[nodiscard]] std::size_t remaining() const noexcept { return static_cast<std::size_t>(end_ - cursor_); }

  /// Throws ham::protocol_error unless everything has been read.
  void expect_end() const {
    if (cursor_ != end_) [[unlikely]]
      detail::throw_malformed("bytes are left over after the last value");
  }

  /// Held while a value of a class with parts is read: guards against nesting that would exhaust the stack.
  class nested {
   public:
    /// Throws ham::protocol_error if max_nesting values contain this one.
    explicit nested(reader& from) : reader_(from) {
      if (reader_.depth_ == max_nesting) [[unlikely]]
        detail::throw_malformed("values are nested too deeply");
      ++reader_.depth_;
    }
    ~nested() { --reader_.depth_; }
    nested(const nested&) = delete;
    nested& operator=(const nested&) = delete;

   private:
    reader& reader_;
  };

  /// In place of nested for classes whose values all have one size: those do not contain themselves.
  struct unnested {
    /// Does nothing.
    explicit unnested(reader&) noexcept {}
  };

 private:
  const std::byte* skip(std::size_t size) {
    require(size);
    const std::byte* const at = cursor_;
    cursor_ += size;
    return at;
  }

  const std::byte* cursor_;
  const std::byte* end_;
  std::uint32_t depth_ = 0;
};

}  // namespace ham::msg
