// A pointer to memory of any node.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "ham/error.hpp"
#include "ham/msg/codec.hpp"

namespace ham::offload {

namespace detail {
/// Tag of the live allocation of this node that contains `address`, or 0.
[[nodiscard]] std::uint64_t local_tag(const void* address, node_t node) noexcept;
}  // namespace detail

/// Address in the memory of a node, together with the node and the allocation it belongs to (paper 1, Table II).
/// Copied freely, by value into offloaded functions and back. On its own node, `[]`, `*` and `->` are plain loads and
/// stores; on other nodes use put, get and copy. Owns nothing.
template <class T>
class buffer_ptr {
 public:
  using element_type = T;

  constexpr buffer_ptr() noexcept = default;
  constexpr buffer_ptr(std::nullptr_t) noexcept {}  // NOLINT(google-explicit-constructor)
  /// A local address under the number of this node, so that others may be given it. Memory that does not come from
  /// allocate() is not tracked: accesses by other nodes are checked against the mappings of the process only.
  buffer_ptr(T* address, node_t node) noexcept
      : address_(reinterpret_cast<std::uintptr_t>(address)), tag_(detail::local_tag(address, node)), node_(node) {}
  /// All parts; for bindings.
  constexpr buffer_ptr(std::uint64_t address, std::uint64_t tag, node_t node) noexcept
      : address_(address), tag_(tag), node_(node) {}
  /// buffer_ptr<T> to buffer_ptr<const T>.
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr operator buffer_ptr<const T>() const noexcept requires(!std::is_const_v<T>) {
    return {address_, tag_, node_};
  }

  /// The address as a pointer; may be dereferenced on node() only.
  [[nodiscard]] T* get() const noexcept { return reinterpret_cast<T*>(static_cast<std::uintptr_t>(address_)); }
  [[nodiscard]] constexpr node_t node() const noexcept { return node_; }
  [[nodiscard]] constexpr std::uint64_t address() const noexcept { return address_; }
  [[nodiscard]] constexpr std::uint64_t tag() const noexcept { return tag_; }
  explicit constexpr operator bool() const noexcept { return address_ != 0; }

  [[nodiscard]] T& operator[](std::size_t index) const noexcept { return get()[index]; }
  [[nodiscard]] T& operator*() const noexcept { return *get(); }
  [[nodiscard]] T* operator->() const noexcept { return get(); }

  // Arithmetic in elements, as with pointers.
  constexpr buffer_ptr& operator+=(std::ptrdiff_t count) noexcept {
    address_ += static_cast<std::uint64_t>(count) * sizeof(T);
    return *this;
  }
  constexpr buffer_ptr& operator-=(std::ptrdiff_t count) noexcept { return *this += -count; }
  constexpr buffer_ptr& operator++() noexcept { return *this += 1; }
  constexpr buffer_ptr& operator--() noexcept { return *this -= 1; }
  constexpr buffer_ptr operator++(int) noexcept {
    const buffer_ptr before = *this;
    ++*this;
    return before;
  }
  constexpr buffer_ptr operator--(int) noexcept {
    const buffer_ptr before = *this;
    --*this;
    return before;
  }
  [[nodiscard]] friend constexpr buffer_ptr operator+(buffer_ptr at, std::size_t count) noexcept {
    return at += static_cast<std::ptrdiff_t>(count);
  }
  [[nodiscard]] friend constexpr buffer_ptr operator+(std::size_t count, buffer_ptr at) noexcept { return at + count; }
  [[nodiscard]] friend constexpr buffer_ptr operator-(buffer_ptr at, std::size_t count) noexcept {
    return at -= static_cast<std::ptrdiff_t>(count);
  }
  /// Elements between two pointers into one allocation.
  [[nodiscard]] friend constexpr std::ptrdiff_t operator-(const buffer_ptr& a, const buffer_ptr& b) noexcept {
    return static_cast<std::ptrdiff_t>(a.address_ - b.address_) / static_cast<std::ptrdiff_t>(sizeof(T));
  }
  [[nodiscard]] friend constexpr bool operator==(const buffer_ptr& a, const buffer_ptr& b) noexcept {
    return a.address_ == b.address_ && a.node_ == b.node_;
  }
  /// Orders addresses of one node; addresses of different nodes by node.
  [[nodiscard]] friend constexpr std::strong_ordering operator<=>(const buffer_ptr& a, const buffer_ptr& b) noexcept {
    if (const auto order = a.node_ <=> b.node_; order != 0) return order;
    return a.address_ <=> b.address_;
  }

 private:
  std::uint64_t address_ = 0;
  std::uint64_t tag_ = 0;
  node_t node_ = -1;
};

}  // namespace ham::offload

/// Its members as they lie in memory, for objects that hold one and cross as their bytes.
template <class T>
inline constexpr const char* ham::msg::detail::known_members_v<ham::offload::buffer_ptr<T>> = "u8@0,u8@8,i4@16";

/// A buffer_ptr crosses as address, tag and node, whatever the byte order.
template <class T>
struct ham::codec<ham::offload::buffer_ptr<T>> {
  static constexpr std::size_t fixed_size = 20;
  static constexpr std::size_t size(const offload::buffer_ptr<T>&) noexcept { return fixed_size; }
  static void write(msg::writer& to, const offload::buffer_ptr<T>& value) {
    to.number(value.address());
    to.number(value.tag());
    to.number(value.node());
  }
  static offload::buffer_ptr<T> read(msg::reader& from) {
    const auto address = from.number<std::uint64_t>();
    const auto tag = from.number<std::uint64_t>();
    return {address, tag, from.number<node_t>()};
  }
  static std::string layout() {
    std::string text = "buffer_ptr<";
    if constexpr (!std::is_void_v<T> && msg::crosses<std::remove_cv_t<T>>) {
      msg::append_layout<std::remove_cv_t<T>>(text);
    } else {
      text += std::to_string(sizeof(T));
    }
    return text + ">";
  }
};
