// The arguments of a kernel call, out of a message that nobody vouches for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "packed_call.hpp"

namespace ham::veo {

/// The arguments of one call, taken out of its message. Buffers are at places of their own, and zero if nothing came.
class kernel_arguments {
 public:
  /// Throws ham::protocol_error if the message is not what it should be, ham::call_error if the buffers take more than
  /// `max_bytes`: they are made before the kernel runs, and what a peer says must not take all memory.
  kernel_arguments(std::span<const std::byte> message, std::size_t max_bytes);
  kernel_arguments(const kernel_arguments&) = delete;
  kernel_arguments& operator=(const kernel_arguments&) = delete;

  [[nodiscard]] std::span<const argument_kind> kinds() const noexcept { return kinds_; }
  [[nodiscard]] result_kind result() const noexcept { return head_.result; }
  /// What libffi wants: where the value of each argument is.
  [[nodiscard]] void** places() noexcept { return places_.data(); }
  /// The buffers that go back, after the call.
  [[nodiscard]] std::vector<std::byte> returned() const;

 private:
  union value {
    std::uint64_t bits;
    float single;
    void* pointer;
  };
  /// Takes up the word of argument `i`, which is its value or the length of its buffer.
  void read_word(std::size_t i, std::uint64_t word);
  /// Gives each buffer its place, with what came for it.
  void lay_out(std::span<const std::byte> contents);

  call_head head_;
  std::span<const argument_kind> kinds_;
  std::vector<value> values_;
  std::vector<void*> places_;
  std::vector<std::size_t> lengths_;
  std::vector<std::uint64_t> area_;  // all buffers, one after the other
  std::size_t area_words_ = 0;
  std::size_t max_words_;
};

}  // namespace ham::veo
