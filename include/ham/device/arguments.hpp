// How arguments and results of device functions cross from the target process to its device and back. Internal.
//
// Both are one process and one layout of data: a value is its bytes, at the alignment of its type; a span is its length
// and its elements. What comes from other nodes has been checked and decoded before (ham/msg/codec.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "ham/device/mailbox.hpp"

namespace ham::inline v1::device {

/// Instantiated for a parameter of a device function that cannot cross; its template argument is the type to blame.
template <class Type>
struct type_cannot_go_to_a_device {
  static_assert(sizeof(Type*) == 0,
                "ham: this type cannot be a parameter of a device function; parameters are trivially copyable types "
                "that hold no pointer, ham::offload::buffer_ptr, and std::span<const T> of such");
};
/// The same for its result.
template <class Type>
struct type_cannot_come_from_a_device {
  static_assert(sizeof(Type*) == 0,
                "ham: this type cannot be the result of a device function; results are void and trivially copyable "
                "types of at most 1000 bytes that hold no pointer; what is longer goes into a buffer");
};

namespace detail {

inline constexpr std::size_t max_alignment = 16;

template <class Type>
inline constexpr bool is_plain =
    std::is_trivially_copyable_v<Type> && !std::is_pointer_v<Type> && !std::is_member_pointer_v<Type> &&
    !std::is_array_v<Type> && alignof(Type) <= max_alignment;
template <class Element, std::size_t Extent>
inline constexpr bool is_plain<std::span<Element, Extent>> = false;

template <class Type>
struct argument {
  static constexpr bool valid = is_plain<Type>;
  static constexpr std::size_t alignment = alignof(Type);
  static constexpr std::size_t min_bytes = sizeof(Type);
  static constexpr bool varies = false;
};
template <class Element>
struct argument<std::span<const Element>> {
  static constexpr bool valid = is_plain<Element>;
  static constexpr std::size_t alignment = alignof(std::uint64_t);
  static constexpr std::size_t min_bytes = sizeof(std::uint64_t);
  static constexpr bool varies = true;
};

template <class Result>
inline constexpr bool is_result = is_plain<Result> && sizeof(Result) <= max_result;
template <>
inline constexpr bool is_result<void> = true;

[[nodiscard]] HAM_DEVICE constexpr std::size_t aligned(std::size_t at, std::size_t alignment) noexcept {
  return (at + alignment - 1) / alignment * alignment;
}

/// Where the arguments of a call end at least: all of them if none varies.
template <class... Params>
[[nodiscard]] constexpr std::size_t min_arguments() noexcept {
  std::size_t at = 0;
  ((at = aligned(at, argument<Params>::alignment) + argument<Params>::min_bytes), ...);
  return at;
}

/// Whoever calls. Without memory it only counts.
class argument_writer {
 public:
  HAM_DEVICE explicit argument_writer(std::byte* to) noexcept : to_(to) {}

  template <class Type>
  HAM_DEVICE void put(const Type& value) noexcept {
    at_ = aligned(at_, alignof(Type));
    bytes(&value, sizeof value);
  }
  template <class Element>
  HAM_DEVICE void put(const std::span<const Element>& values) noexcept {
    put(static_cast<std::uint64_t>(values.size()));
    at_ = aligned(at_, alignof(Element));
    if (!values.empty()) bytes(values.data(), values.size_bytes());
  }
  [[nodiscard]] HAM_DEVICE std::size_t size() const noexcept { return at_; }

 private:
  HAM_DEVICE void bytes(const void* from, std::size_t size) noexcept {
    if (to_ != nullptr) std::memcpy(to_ + at_, from, size);
    at_ += size;
  }
  std::byte* to_;
  std::size_t at_ = 0;
};

/// The device's side. `from` is aligned to max_alignment. Reads nothing behind `size`: ok() says that it would have.
class argument_reader {
 public:
  HAM_DEVICE argument_reader(const std::byte* from, std::size_t size) noexcept : from_(from), size_(size) {}

  template <class Type>
  [[nodiscard]] HAM_DEVICE Type take(Type* /*which*/) noexcept {
    alignas(Type) std::byte copy[sizeof(Type)] = {};
    const std::byte* const bytes = next(alignof(Type), sizeof(Type));
    if (bytes != nullptr) {
      for (std::size_t at = 0; at < sizeof(Type); ++at) copy[at] = bytes[at];
    }
    return *reinterpret_cast<const Type*>(copy);
  }
  /// Its elements stay where they are.
  template <class Element>
  [[nodiscard]] HAM_DEVICE std::span<const Element> take(std::span<const Element>* /*which*/) noexcept {
    const auto count = take(static_cast<std::uint64_t*>(nullptr));
    if (count > size_ / sizeof(Element)) {
      ok_ = false;
      return {};
    }
    const std::byte* const bytes = next(alignof(Element), count * sizeof(Element));
    if (bytes == nullptr) return {};
    return std::span<const Element>(reinterpret_cast<const Element*>(bytes), static_cast<std::size_t>(count));
  }
  /// Whether all of it was there, and nothing is left.
  [[nodiscard]] HAM_DEVICE bool ok() const noexcept { return ok_ && at_ == size_; }

 private:
  [[nodiscard]] HAM_DEVICE const std::byte* next(std::size_t alignment, std::size_t bytes) noexcept {
    const std::size_t begin = aligned(at_, alignment);
    if (!ok_ || begin > size_ || bytes > size_ - begin) {
      ok_ = false;
      return nullptr;
    }
    at_ = begin + bytes;
    return from_ + begin;
  }

  const std::byte* from_;
  std::size_t size_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace detail
}  // namespace ham::device
