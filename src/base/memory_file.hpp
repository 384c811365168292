// Anonymous shared memory (memfd): no name in any file system, gone with its last user.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/unique_fd.hpp"

namespace ham::inline v1::base {

/// Makes a memfd of `size_bytes`. Throws ham::config_error if the kernel refuses.
[[nodiscard]] unique_fd make_memory_file(const char* name, std::size_t size_bytes);

/// The longest file that this process may make (RLIMIT_FSIZE), in bytes; UINT64_MAX: there is no limit.
[[nodiscard]] std::uint64_t max_file_bytes() noexcept;

/// Sets the size of a file. False, with errno, if that cannot be; beyond max_file_bytes() it is EFBIG without the
/// signal that the kernel would raise.
[[nodiscard]] bool resize_file(int fd, std::uint64_t size_bytes) noexcept;

/// Gives the memory of whole pages of a file back, which read as zeros from now on. Without effect where the kernel
/// refuses.
void drop_range(int fd, std::uint64_t begin, std::uint64_t size_bytes) noexcept;

/// A mapping of a file descriptor, unmapped when it goes. The mapping may be longer than the file: bytes beyond the
/// file's end become usable when the file grows.
class mapping {
 public:
  mapping() noexcept = default;
  /// Maps `size_bytes` shared, readable and writable. Throws ham::config_error.
  mapping(int fd, std::size_t size_bytes);
  mapping(mapping&& other) noexcept;
  mapping& operator=(mapping&& other) noexcept;
  ~mapping();

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  explicit operator bool() const noexcept { return data_ != nullptr; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Size in bytes of the file behind `fd`; 0 on error.
[[nodiscard]] std::size_t file_size(int fd) noexcept;

}  // namespace ham::base
