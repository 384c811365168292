// The way of an emulated device to the memory of its host: plain memory, in which accesses take the time of a link.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/clock.hpp"
#include "ham/device/words.hpp"

namespace ham::inline v1::transport::cuda {

/// Reads look at the memory half-way. Writes are posted: the device goes on at once, and what it has written says when
/// the host may see it (arrival_ns). Any thread.
class emulated_link {
 public:
  emulated_link(std::int64_t read_ns, std::int64_t write_ns) noexcept : read_ns_(read_ns), write_ns_(write_ns) {}

  /// The second one is written before the first one, which is zero until then, or not what the device awaits.
  [[nodiscard]] device::detail::word_pair read_pair(const std::uint64_t* words) const noexcept {
    const std::uint64_t first = read_word(words[0]);
    return {first, first == 0 ? 0 : device::detail::acquire(words[1])};
  }
  [[nodiscard]] std::uint64_t read_word(const std::uint64_t& from) const noexcept {
    if (read_ns_ == 0) return device::detail::acquire(from);
    const std::int64_t begin = base::now_ns();
    wait_until(begin + read_ns_ / 2);
    const std::uint64_t word = device::detail::acquire(from);
    wait_until(begin + read_ns_);
    return word;
  }
  void read_block(const std::byte* from, std::byte* to, std::size_t size) const noexcept {
    std::memcpy(to, from, size);
    if (read_ns_ != 0) wait_until(base::now_ns() + read_ns_);
  }
  void write_block(std::byte* to, const std::byte* from, std::size_t size) const noexcept {
    std::memcpy(to, from, size);
  }
  void write_pair(std::uint64_t* to, const device::detail::word_pair& words) const noexcept {
    device::detail::write_pair(to, words);
  }
  void write_word(std::uint64_t& to, std::uint64_t word) const noexcept { device::detail::release(to, word); }
  void note_word(std::uint64_t& to, std::uint64_t word) const noexcept { device::detail::note(to, word); }
  /// Of a read, there and back.
  [[nodiscard]] std::int64_t read_ns() const noexcept { return read_ns_; }
  [[nodiscard]] std::int64_t arrival_ns() const noexcept { return write_ns_ == 0 ? 0 : base::now_ns() + write_ns_; }

 private:
  static void wait_until(std::int64_t until_ns) noexcept {
    while (base::now_ns() < until_ns) {
    }
  }

  std::int64_t read_ns_;
  std::int64_t write_ns_;
};

}  // namespace ham::transport::cuda
