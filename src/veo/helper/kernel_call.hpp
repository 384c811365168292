// Calls of kernels through libffi.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "../packed_call.hpp"

namespace ham::veo {

/// The arguments of one call, taken out of its message. Buffers are at places of their own, and zero if nothing came.
class kernel_arguments {
 public:
  /// Throws ham::protocol_error if the message is not what it should be.
  explicit kernel_arguments(std::span<const std::byte> message);

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
  call_head head_;
  std::span<const argument_kind> kinds_;
  std::vector<value> values_;
  std::vector<void*> places_;
  std::vector<std::size_t> lengths_;
  std::vector<std::uint64_t> area_;  // all buffers, one after the other
};

/// Calls the function at `kernel`. An exception that leaves it ends in std::terminate.
[[nodiscard]] std::uint64_t call_kernel(std::uint64_t kernel, kernel_arguments& arguments) noexcept;

}  // namespace ham::veo
