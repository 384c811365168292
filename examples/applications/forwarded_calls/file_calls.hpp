// The system calls that are forwarded: write and read at the beginning of a file that has no name, and lines of output
// that are appended to one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

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

/// A line of output of that many bytes, at least one: letters and the newline.
[[nodiscard]] std::string line_of(std::uint64_t bytes);
/// All of `text` to `descriptor`. Throws std::system_error.
void write_all(int descriptor, std::string_view text);

/// A file of this process that has no name, which lines are appended to.
class output_file {
 public:
  /// In /tmp; throws std::system_error.
  output_file();
  ~output_file();
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;

  /// Throws std::system_error.
  void clear() const;
  /// Throws std::system_error.
  void append(std::string_view text) const;
  /// `line` and a newline, which is not part of it. Throws std::system_error.
  void append_line(std::string_view line) const;
  /// Whether it has so many times line_of(bytes), and nothing else. Throws std::system_error.
  [[nodiscard]] bool holds(std::uint64_t bytes, std::uint64_t count) const;

 private:
  int descriptor_;
};

}  // namespace forwarded_calls
