// The arguments of a kernel call, out of a message that nobody vouches for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "packed_call.hpp"

namespace ham::inline v1::veo {

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
  /// Of the VE process that is called, as in tags of its pointers; no_identifier: not known.
  [[nodiscard]] std::uint8_t identifier() const noexcept { return head_.identifier; }
  /// What a Vector Engine has in the 64-bit slot of argument `i`: of a float, its bits in the upper half.
  [[nodiscard]] std::uint64_t slot(std::size_t i) const noexcept;
  /// What goes to the kernel, unless that is a floating-point number.
  [[nodiscard]] std::uint64_t word(std::size_t i) const noexcept { return values_[i].bits; }
  /// Change how an argument goes to the kernel; by the type of its parameter.
  void set_word(std::size_t i, std::uint64_t bits) noexcept { values_[i].bits = bits; }
  void set_real(std::size_t i, double value) noexcept { values_[i].real = value; }
  void set_single(std::size_t i, float value) noexcept { values_[i].single = value; }
  /// Adds arguments that are zero, up to `count` in all.
  void add_zeros(std::size_t count);

  /// What libffi wants: where the value of each argument is.
  [[nodiscard]] void** places() noexcept { return places_.data(); }
  /// The buffers that go back, after the call.
  [[nodiscard]] std::vector<std::byte> returned() const;

 private:
  union value {
    std::uint64_t bits;
    double real;
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
  std::vector<const std::uint64_t*> buffers_;  // of stack arguments, whatever becomes of their values
  std::vector<std::size_t> lengths_;
  std::vector<std::uint64_t> area_;  // all buffers, one after the other
  std::size_t area_words_ = 0;
  std::size_t max_words_;
};

}  // namespace ham::veo
