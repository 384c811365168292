// A range of elements in memory of any node: a buffer_ptr that knows its length. Passed by value to other nodes.
//
//     double sum(offload::buffer_span<const double> values) {      // runs where the memory is
//       double result = 0;
//       for (const double value : values.local()) result += value;
//       return result;
//     }
//     offload::buffer<double> there(1, n);
//     offload::put(std::span{here}, there).get();
//     offload::sync(1, fn<&sum>, there);
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

#include "ham/offload/buffer_ptr.hpp"

namespace ham::inline v1::offload {

template <class Element>
class buffer_span;

namespace detail {

/// Throw ham::buffer_error.
[[noreturn]] void throw_outside(std::size_t offset, std::size_t count, std::size_t size);
[[noreturn]] void throw_too_short(const char* verb, std::size_t count, std::size_t size);
[[noreturn]] void throw_not_here(node_t node);
[[noreturn]] void throw_other_runtime(node_t node);
[[nodiscard]] bool is_here(node_t node) noexcept;

}  // namespace detail

/// Address and number of elements in the memory of a node. Copied freely, by value into offloaded functions and back;
/// converts from a `buffer`, and to a span of const elements. Owns nothing: as with buffer_ptr, an allocation that was
/// freed meanwhile is an error where it is used, not before.
template <class Element>
class buffer_span {
 public:
  using element_type = Element;                  ///< may be const
  using value_type = std::remove_cv_t<Element>;  ///< without const

  static constexpr std::size_t to_the_end = SIZE_MAX;  ///< as `count` of subspan(): all that follows

  constexpr buffer_span() noexcept = default;
  /// `count` elements from `first` on, which is not checked here.
  constexpr buffer_span(buffer_ptr<Element> first, std::size_t count) noexcept : first_(first), size_(count) {}
  /// buffer_span<Element> to buffer_span<const Element>.
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr operator buffer_span<const Element>() const noexcept requires(!std::is_const_v<Element>) {
    return {first_, size_};
  }

  /// The first element; null for an empty span made without one.
  [[nodiscard]] constexpr buffer_ptr<Element> ptr() const noexcept { return first_; }
  /// Whose memory it is; -1 for a span made without any.
  [[nodiscard]] constexpr node_t node() const noexcept { return first_.node(); }
  /// Number of elements.
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  /// Bytes of all elements.
  [[nodiscard]] constexpr std::size_t size_bytes() const noexcept { return size_ * sizeof(Element); }
  /// Whether there is no element.
  [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }

  /// `count` elements from `offset` on, or all from there to the end. Throws ham::buffer_error if that is outside.
  [[nodiscard]] constexpr buffer_span subspan(std::size_t offset, std::size_t count = to_the_end) const {
    if (offset > size_ || (count != to_the_end && count > size_ - offset)) detail::throw_outside(offset, count, size_);
    return {first_ + offset, count == to_the_end ? size_ - offset : count};
  }
  /// The first or the last `count` elements. Throw ham::buffer_error if there are fewer.
  [[nodiscard]] constexpr buffer_span first(std::size_t count) const { return subspan(0, count); }
  [[nodiscard]] constexpr buffer_span last(std::size_t count) const {
    if (count > size_) detail::throw_outside(0, count, size_);
    return {first_ + (size_ - count), count};
  }

  /// The elements themselves, on the node whose memory it is. Throws ham::buffer_error on others.
  [[nodiscard]] std::span<Element> local() const {
    if (!empty() && !detail::is_here(node())) detail::throw_not_here(node());
    return {first_.get(), size_};
  }
  /// One of them, without a check, as buffer_ptr does.
  [[nodiscard]] Element& operator[](std::size_t index) const noexcept { return first_[index]; }

  [[nodiscard]] friend constexpr bool operator==(const buffer_span&, const buffer_span&) noexcept = default;

 private:
  buffer_ptr<Element> first_;
  std::size_t size_ = 0;
};

}  // namespace ham::offload

/// Its members as they lie in memory, for objects that hold one and cross as their bytes.
template <class Element>
inline constexpr const char* ham::msg::detail::known_members_v<ham::offload::buffer_span<Element>> =
    sizeof(std::size_t) == 8 ? "u8@0,u8@8,i4@16,u8@24" : nullptr;

/// A buffer_span crosses as a buffer_ptr and a number of 64 bits.
template <class Element>
struct ham::codec<ham::offload::buffer_span<Element>> {
  using pointer = offload::buffer_ptr<Element>;  ///< the first element
  /// Bytes: those of the pointer, 8 of the number.
  static constexpr std::size_t fixed_size = codec<pointer>::fixed_size + 8;
  /// Copies pointer and number.
  static void write(msg::writer& to, const offload::buffer_span<Element>& value) {
    codec<pointer>::write(to, value.ptr());
    to.number(static_cast<std::uint64_t>(value.size()));
  }
  /// Throws ham::protocol_error for more elements than a process has addresses. The pointer is checked where it is
  /// used.
  static offload::buffer_span<Element> read(msg::reader& from) {
    const pointer first = codec<pointer>::read(from);
    const auto size = from.number<std::uint64_t>();
    if (size > SIZE_MAX / sizeof(Element)) throw protocol_error("a buffer_span has more elements than addresses");
    return {first, static_cast<std::size_t>(size)};
  }
  /// That of the pointer, and the number.
  static std::string layout() { return codec<pointer>::layout() + ",u8"; }
};
