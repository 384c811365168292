// The system calls that are forwarded: write and read at the beginning of a file that has no name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

namespace forwarded_calls {

/// Byte of the pattern that files hold.
[[nodiscard]] constexpr unsigned char pattern(std::size_t index) {
  return static_cast<unsigned char>((index * 131 + (index >> 8)) & 0xFF);
}
void fill(std::span<std::byte> bytes);
[[nodiscard]] bool is_pattern(std::span<const std::byte> bytes);

/// A file of this process.
class file {
 public:
  /// In /tmp; throws std::system_error.
  file();
  ~file();
  file(const file&) = delete;
  file& operator=(const file&) = delete;

  /// All of `bytes`. Throws std::system_error.
  void write(std::span<const std::byte> bytes) const;
  /// All of `bytes`, which the file must have. Throws std::system_error, std::runtime_error at its end.
  void read(std::span<std::byte> bytes) const;

 private:
  int descriptor_;
};

}  // namespace forwarded_calls
