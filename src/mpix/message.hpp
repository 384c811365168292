// What parents send to children: kernels by name with their arguments, laid out so that kernels can use the bytes where
// they were received. And what children answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <vector>

namespace ham::inline v1::mpix {

constexpr std::size_t message_alignment = 64;

/// Memory of a message, aligned so that every argument in it is.
class message_buffer {
 public:
  message_buffer() = default;
  explicit message_buffer(std::size_t size) { resize(size); }

  /// Keeps the bytes that are there; new ones are not initialised.
  void resize(std::size_t size);

  [[nodiscard]] std::byte* data() noexcept { return memory_.get(); }
  [[nodiscard]] const std::byte* data() const noexcept { return memory_.get(); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  struct free_aligned {
    void operator()(std::byte* memory) const noexcept {
      ::operator delete[](memory, std::align_val_t{message_alignment});
    }
  };
  std::unique_ptr<std::byte[], free_aligned> memory_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

enum batch_flag : std::uint32_t {
  wants_done = 1,    ///< child 0 says when all children have ended the kernels
  ends_children = 2  ///< no more kernels will come
};

/// Start of every message from parents. Numbers are in the byte order that both sides have: the magic number tells.
struct batch_header {
  static constexpr std::uint32_t right_magic = 0x4B50'494D;  // "MIPK"
  std::uint32_t magic = right_magic;
  std::uint32_t flags = 0;
  std::uint64_t ticket = 0;  ///< counts the calls with this intercommunicator
  std::uint64_t total = 0;   ///< bytes of the whole message
  std::uint64_t part = 0;    ///< it is sent in parts of so many bytes
  std::int32_t root = 0;     ///< parent that it comes from
  std::uint32_t kernels = 0;
  std::uint32_t shapes = 0;
  std::uint32_t reserved = 0;
};

/// Kernels as the C functions get them. Sizes and counts are not negative, pointers are there (check_calls).
struct kernel_calls {
  std::size_t count = 0;
  char* const* names = nullptr;
  const int* argument_counts = nullptr;
  void** const* arguments = nullptr;
  const int* const* sizes = nullptr;
};

/// False if something in `calls` cannot be sent: null pointers, negative numbers.
[[nodiscard]] bool check_calls(const kernel_calls& calls) noexcept;

/// Packs a message. `header` says flags, ticket, part and root; the rest of it is filled in.
[[nodiscard]] message_buffer pack(const kernel_calls& calls, batch_header header);

/// Name and sizes of arguments, which successive kernels often share.
struct kernel_shape {
  std::string_view key;  ///< all bytes of the shape: equal keys are equal shapes
  std::string_view name;
  std::span<const std::uint32_t> sizes;
};

/// A received message, checked while it is read: all methods throw debug_info::malformed.
class batch_view {
 public:
  explicit batch_view(message_buffer& bytes);

  [[nodiscard]] const batch_header& header() const noexcept { return header_; }
  [[nodiscard]] const std::vector<kernel_shape>& shapes() const noexcept { return shapes_; }

  /// The next kernel: index of its shape, and the places of its arguments. To be called header().kernels times.
  std::size_t next(std::vector<std::byte*>& arguments);

 private:
  message_buffer& bytes_;
  batch_header header_;
  std::vector<kernel_shape> shapes_;
  std::uint64_t at_ = 0;
};

/// What a child tells parents: of kernels that failed, or (from child 0) that all kernels of a message have ended; then
/// the results of the kernels follow, one std::int64_t each.
struct kernel_report {
  std::uint64_t ticket = 0;
  std::int32_t rank = 0;
  std::int32_t error = 0;   ///< MPIX_KERNEL_...; OK: ended
  std::uint32_t first = 0;  ///< index of the first kernel that it is about
  std::uint32_t count = 0;  ///< and how many
  std::int32_t signal = 0;
  std::uint32_t reports = 0;  ///< ended: so many reports of failures there are for this message
  char kernel[64] = {};
  char text[256] = {};
};

/// Copies with a terminating zero, cut to the room there is.
template <std::size_t Room>
void copy_text(char (&to)[Room], std::string_view from) noexcept {
  const std::size_t length = from.size() < Room ? from.size() : Room - 1;
  std::memcpy(to, from.data(), length);
  to[length] = '\0';
}

}  // namespace ham::mpix
