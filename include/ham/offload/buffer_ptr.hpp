// A pointer to memory of any node.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "ham/device/macros.hpp"
#include "ham/error.hpp"
#include "ham/msg/codec.hpp"
#include "ham/offload/node_number.hpp"

namespace ham::inline v1::offload {

namespace detail {
/// Tag of the live allocation of this node that contains `address`, or 0.
[[nodiscard]] std::uint64_t local_tag(const void* address, node_t node) noexcept;
struct buffer_ptr_access;
}  // namespace detail

/// Address in the memory of a node, together with the node and the allocation it belongs to (paper 1, Table II).
/// Copied freely, by value into offloaded functions and back. On its own node, `[]`, `*` and `->` are plain loads and
/// stores; on other nodes use put, get and copy. Owns nothing.
template <class Element>
class buffer_ptr {
 public:
  using element_type = Element;  ///< may be const

  constexpr buffer_ptr() noexcept = default;
  constexpr buffer_ptr(std::nullptr_t) noexcept {}  // NOLINT(google-explicit-constructor)
  /// A local address under the number of this node, so that others may be given it. Memory that does not come from
  /// allocate() is not tracked: accesses by other nodes are checked against the mappings of the process only.
  buffer_ptr(Element* address, node_number node) noexcept
      : address_(reinterpret_cast<std::uintptr_t>(address)), tag_(detail::local_tag(address, node)), node_(node) {}
  /// buffer_ptr<Element> to buffer_ptr<const Element>.
  // NOLINTNEXTLINE(google-explicit-constructor)
  template <class To>
  requires(!std::is_const_v<Element> && std::is_same_v<To, const Element>) constexpr operator buffer_ptr<To>()
      const noexcept {
    return {address_, tag_, node_};
  }

  /// The address as a pointer; may be dereferenced on node() only.
  [[nodiscard]] HAM_DEVICE Element* get() const noexcept {
    return reinterpret_cast<Element*>(static_cast<std::uintptr_t>(address_));
  }
  [[nodiscard]] constexpr node_t node() const noexcept { return node_; }
  [[nodiscard]] constexpr std::uint64_t address() const noexcept { return address_; }
  [[nodiscard]] constexpr std::uint64_t tag() const noexcept { return tag_; }
  explicit constexpr operator bool() const noexcept { return address_ != 0; }

  /// Element access on node(): a plain load or store, without any check. `index` counts elements.
  [[nodiscard]] HAM_DEVICE Element& operator[](std::size_t index) const noexcept { return get()[index]; }
  [[nodiscard]] HAM_DEVICE Element& operator*() const noexcept { return *get(); }
  [[nodiscard]] HAM_DEVICE Element* operator->() const noexcept { return get(); }

  /// Arithmetic in elements, as with pointers, and without a check: put, get and copy check what they are given.
  constexpr buffer_ptr& operator+=(std::ptrdiff_t count) noexcept {
    address_ += static_cast<std::uint64_t>(count) * sizeof(Element);
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
  [[nodiscard]] friend constexpr std::ptrdiff_t operator-(const buffer_ptr& left, const buffer_ptr& right) noexcept {
    return static_cast<std::ptrdiff_t>(left.address_ - right.address_) / static_cast<std::ptrdiff_t>(sizeof(Element));
  }
  [[nodiscard]] friend constexpr bool operator==(const buffer_ptr& left, const buffer_ptr& right) noexcept {
    return left.address_ == right.address_ && left.node_ == right.node_;
  }
  /// Orders addresses of one node; addresses of different nodes by node.
  [[nodiscard]] friend constexpr std::strong_ordering operator<=>(const buffer_ptr& left,
                                                                  const buffer_ptr& right) noexcept {
    if (const auto order = left.node_ <=> right.node_; order != 0) return order;
    return left.address_ <=> right.address_;
  }

 private:
  friend struct detail::buffer_ptr_access;
  template <class Other>
  friend class buffer_ptr;

  constexpr buffer_ptr(std::uint64_t address, std::uint64_t tag, node_t node) noexcept
      : address_(address), tag_(tag), node_(node) {}

  std::uint64_t address_ = 0;
  std::uint64_t tag_ = 0;
  node_t node_ = -1;
};

namespace detail {

/// Makes a buffer_ptr of its parts, for the library and bindings.
struct buffer_ptr_access {
  template <class Element>
  [[nodiscard]] static constexpr buffer_ptr<Element> make(std::uint64_t address, std::uint64_t tag,
                                                          node_t node) noexcept {
    return {address, tag, node};
  }
};

}  // namespace detail

}  // namespace ham::offload

/// Its members as they lie in memory, for objects that hold one and cross as their bytes.
template <class Element>
inline constexpr const char* ham::msg::detail::known_members_v<ham::offload::buffer_ptr<Element>> = "u8@0,u8@8,i4@16";

/// A buffer_ptr crosses as address, tag and node, whatever the byte order.
template <class Element>
struct ham::codec<ham::offload::buffer_ptr<Element>> {
  static constexpr std::size_t fixed_size = 20;  ///< bytes: address 8, tag 8, node 4
  /// Bytes, always the same.
  static constexpr std::size_t size(const offload::buffer_ptr<Element>&) noexcept { return fixed_size; }
  /// Copies its three parts, little-endian.
  static void write(msg::writer& to, const offload::buffer_ptr<Element>& value) {
    to.number(value.address());
    to.number(value.tag());
    to.number(value.node());
  }
  /// Any bytes are a pointer: the node whose memory it is checks the tag when it is used.
  static offload::buffer_ptr<Element> read(msg::reader& from) {
    const auto address = from.number<std::uint64_t>();
    const auto tag = from.number<std::uint64_t>();
    return offload::detail::buffer_ptr_access::make<Element>(address, tag, from.number<node_t>());
  }
  /// "buffer_ptr<...>" with the layout of the element; its size in bytes, where an element cannot cross.
  static std::string layout() {
    std::string text = "buffer_ptr<";
    if constexpr (!std::is_void_v<Element> && msg::crosses<std::remove_cv_t<Element>>) {
      msg::append_layout<std::remove_cv_t<Element>>(text);
    } else {
      text += std::to_string(sizeof(Element));
    }
    return text + ">";
  }
};
