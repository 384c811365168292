// A secret of 256 bits that leaves no copy of itself behind.
#pragma once

#include <string.h>

#include <array>
#include <cstddef>

namespace ham::inline v1::base {

/// A value: copies hold the secret as well. Each of them wipes it when it goes. Zeros at first.
class secret_key {
 public:
  static constexpr std::size_t bytes = 32;

  secret_key() noexcept = default;
  secret_key(const secret_key&) noexcept = default;
  secret_key& operator=(const secret_key&) noexcept = default;
  ~secret_key() { wipe(); }

  /// Zeros from now on.
  void wipe() noexcept { ::explicit_bzero(value_.data(), value_.size()); }
  void fill(std::byte with) noexcept { value_.fill(with); }

  [[nodiscard]] static constexpr std::size_t size() noexcept { return bytes; }
  [[nodiscard]] std::byte* data() noexcept { return value_.data(); }
  [[nodiscard]] const std::byte* data() const noexcept { return value_.data(); }
  [[nodiscard]] std::byte& operator[](std::size_t at) noexcept { return value_[at]; }
  [[nodiscard]] std::byte operator[](std::size_t at) const noexcept { return value_[at]; }
  [[nodiscard]] auto begin() const noexcept { return value_.begin(); }
  [[nodiscard]] auto end() const noexcept { return value_.end(); }

  /// Takes the same time wherever the two differ.
  [[nodiscard]] friend bool operator==(const secret_key& one, const secret_key& other) noexcept {
    std::byte differs{0};
    for (std::size_t i = 0; i < bytes; ++i) differs |= one.value_[i] ^ other.value_[i];
    return differs == std::byte{0};
  }

 private:
  std::array<std::byte, bytes> value_{};
};

}  // namespace ham::base
