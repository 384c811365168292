// A cursor over bytes of a file or a message that nobody vouches for: every read is checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string_view>

namespace ham::inline v1::debug_info {

/// Bytes end, or say something impossible.
class malformed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class cursor {
 public:
  explicit cursor(std::span<const std::byte> bytes, std::uint64_t at = 0) : bytes_(bytes) { seek(at); }

  [[nodiscard]] std::uint64_t position() const noexcept { return at_; }
  [[nodiscard]] bool at_end() const noexcept { return at_ >= bytes_.size(); }
  [[nodiscard]] std::uint64_t left() const noexcept { return bytes_.size() - at_; }

  void seek(std::uint64_t at) {
    if (at > bytes_.size()) throw malformed("an offset leads outside");
    at_ = at;
  }
  void skip(std::uint64_t count) { (void)take(count); }

  std::span<const std::byte> take(std::uint64_t count) {
    if (count > left()) throw malformed("bytes end too early");
    const auto result = bytes_.subspan(at_, count);
    at_ += count;
    return result;
  }

  /// A number of the machine's own byte order.
  template <class T>
  T number() {
    T result;
    std::memcpy(&result, take(sizeof result).data(), sizeof result);
    return result;
  }

  std::uint64_t unsigned_of(std::size_t size) {
    switch (size) {
      case 1: return number<std::uint8_t>();
      case 2: return number<std::uint16_t>();
      case 4: return number<std::uint32_t>();
      case 8: return number<std::uint64_t>();
      default: throw malformed("a number of impossible size");
    }
  }

  std::uint64_t uleb() {
    std::uint64_t result = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = number<std::uint8_t>();
      if (shift < 64) result |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if ((byte & 0x80) == 0) return result;
    }
  }

  std::int64_t sleb() {
    std::uint64_t result = 0;
    unsigned shift = 0;
    std::uint8_t byte = 0;
    do {
      byte = number<std::uint8_t>();
      if (shift < 64) result |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      shift += 7;
    } while ((byte & 0x80) != 0);
    if (shift < 64 && (byte & 0x40) != 0) result |= ~std::uint64_t{0} << shift;
    return static_cast<std::int64_t>(result);
  }

  std::string_view text() {
    const auto rest = bytes_.subspan(at_);
    const void* end = rest.empty() ? nullptr : std::memchr(rest.data(), 0, rest.size());
    if (end == nullptr) throw malformed("a text does not end");
    const auto length = static_cast<std::size_t>(static_cast<const std::byte*>(end) - rest.data());
    at_ += length + 1;
    return {reinterpret_cast<const char*>(rest.data()), length};
  }

 private:
  std::span<const std::byte> bytes_;
  std::uint64_t at_ = 0;
};

}  // namespace ham::debug_info
