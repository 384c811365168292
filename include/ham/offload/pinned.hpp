// Arrays of this process that GPUs of the job copy from and to by themselves.
//
//     offload::pinned<float> here(n);
//     offload::buffer<float> there(gpu, n);
//     offload::put(here, there).get();   // one small message: the GPU reads `here`
//     offload::get(there, here).get();
//
// put and get find out by the address that their local bytes are pinned; they are called as with any other memory.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "ham/offload/memory.hpp"

namespace ham::inline v1::offload {

namespace detail {

/// Memory of the calling thread's runtime, aligned to 64 bytes, not initialised; free again when all copies of the
/// pointer are gone. Throws std::bad_alloc, ham::config_error.
[[nodiscard]] std::shared_ptr<std::byte> allocate_pinned(std::size_t bytes);

}  // namespace detail

/// Owns `size()` elements in memory of this process. Between them and memory of a GPU of this machine, put and get send
/// nothing but a message that names the bytes, one for each 8 MiB: the process of the GPU has them mapped, and has the
/// driver lock their pages. With any other node it is memory like any other. So are transfers with a deadline, blocks
/// with gaps between their rows in this process, bytes that are not all of one array, and those that a call brings
/// along (then_call).
///
/// The driver locks pages the first time that they are used with a GPU, 4 MiB or a larger array at once, while the
/// resident kernel is away: until then, copies pass staging memory of the GPU's process. They stay locked: freed arrays
/// are used again for later ones, and their memory returns to the system when the runtime ends.
///
/// Movable. Any thread; like the elements of a vector, they are not to be touched by one while another, or a transfer,
/// writes them. While a GPU copies from or to it, its memory stays, also if it ends, and nobody waits; other transfers
/// need it until they have settled. It may outlive the runtime that it was made under, as memory like any other.
template <class Element>
class pinned {
  static_assert(std::is_trivially_copyable_v<Element> && !std::is_const_v<Element>,
                "ham: what GPUs copy is trivially copyable");
  static_assert(alignof(Element) <= 64, "ham: pinned memory is aligned to 64 bytes");

 public:
  using value_type = Element;  ///< of ranges

  /// Empty.
  pinned() noexcept = default;
  /// `count` elements, not initialised, of the calling thread's runtime. Does not ask other nodes. Throws
  /// std::bad_alloc; ham::buffer_error if there are more bytes than addresses; ham::config_error beyond the limit of
  /// file sizes, or if no runtime is up.
  explicit pinned(std::size_t count)
      : bytes_(count == 0 ? nullptr : detail::allocate_pinned(detail::bytes_for<Element>(count))), size_(count) {}
  pinned(pinned&& other) noexcept : bytes_(std::move(other.bytes_)), size_(std::exchange(other.size_, 0)) {}
  pinned& operator=(pinned&& other) noexcept {
    if (this != &other) {
      bytes_ = std::move(other.bytes_);
      size_ = std::exchange(other.size_, 0);
    }
    return *this;
  }
  pinned(const pinned&) = delete;
  pinned& operator=(const pinned&) = delete;
  ~pinned() = default;

  /// The first element; nullptr if it is empty or was moved from.
  [[nodiscard]] Element* data() noexcept { return reinterpret_cast<Element*>(bytes_.get()); }
  [[nodiscard]] const Element* data() const noexcept { return reinterpret_cast<const Element*>(bytes_.get()); }
  /// Elements that it owns.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Whether there are none.
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  /// All elements; as data().
  [[nodiscard]] std::span<Element> span() noexcept { return {data(), size_}; }
  [[nodiscard]] std::span<const Element> span() const noexcept { return {data(), size_}; }
  /// `index` is less than size().
  [[nodiscard]] Element& operator[](std::size_t index) noexcept { return data()[index]; }
  [[nodiscard]] const Element& operator[](std::size_t index) const noexcept { return data()[index]; }
  /// The range of all elements.
  [[nodiscard]] Element* begin() noexcept { return data(); }
  /// Behind the last one.
  [[nodiscard]] Element* end() noexcept { return data() + size_; }
  [[nodiscard]] const Element* begin() const noexcept { return data(); }
  [[nodiscard]] const Element* end() const noexcept { return data() + size_; }

 private:
  std::shared_ptr<std::byte> bytes_;
  std::size_t size_ = 0;
};

}  // namespace ham::offload
