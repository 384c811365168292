// Calls of kernels through libffi.
#pragma once

#include <ffi.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernel_arguments.hpp"
#include "kernel_types.hpp"

namespace ham::inline v1::veo {

/// A call of one kernel with arguments that certain setters have set, ready to be made again and again.
class prepared_call {
 public:
  [[nodiscard]] bool fits(std::uint64_t kernel, std::uint32_t generation,
                          const kernel_arguments& arguments) const noexcept;
  /// Throws ham::call_error. `generation`: of what is known of the types.
  void prepare(std::uint64_t kernel, std::shared_ptr<const kernel_types> types, std::uint32_t generation,
               const kernel_arguments& arguments);
  /// Brings arguments to where the kernel expects them. Throws ham::call_error, for a pointer of another process.
  void convert(kernel_arguments& arguments) const {
    if (conversions_.empty() && missing_ == 0) [[likely]]
      return;
    convert_all(arguments);
  }
  /// An exception that leaves the kernel ends in std::terminate.
  [[nodiscard]] std::uint64_t run(kernel_arguments& arguments) noexcept;
  /// Says on stderr which arguments may have been the reason for a fault: pointers that have kept their tag.
  void explain_fault(int signal, const kernel_arguments& arguments) const noexcept;

 private:
  struct conversion {
    std::size_t argument;
    slot_kind to;
  };
  void add(argument_kind kind, slot_kind type, std::size_t index);
  void make_interface(std::size_t arguments);
  void convert_all(kernel_arguments& arguments) const;
  [[nodiscard]] std::uint64_t untagged(std::uint64_t bits, std::size_t index, const kernel_arguments& in) const;

  std::uint64_t kernel_ = 0;  // 0: not prepared
  std::uint32_t generation_ = 0;
  std::vector<argument_kind> kinds_;
  result_kind asked_ = result_kind::bits;
  std::shared_ptr<const kernel_types> types_;
  result_kind result_ = result_kind::bits;
  std::vector<conversion> conversions_;
  std::size_t missing_ = 0;  // parameters that the call has no arguments for
  std::vector<ffi_type*> ffi_types_;
  ffi_cif interface_{};
};

/// Calls a function of which no more is known than the setters of its arguments say. An exception that leaves it ends
/// in std::terminate.
[[nodiscard]] std::uint64_t call_kernel(std::uint64_t kernel, kernel_arguments& arguments) noexcept;

}  // namespace ham::veo
