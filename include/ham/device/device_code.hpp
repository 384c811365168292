// The code for devices that was linked into this process, as a driver uses it. Internal.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ham::inline v1::device::detail {

/// The resident kernel, and the calls to the vendor's runtime that concern the program's own code: they are made by the
/// copy of that runtime with which the code is registered, which need not be the driver's. All give the vendor's number
/// of an error, 0: none.
struct device_code {
  const void* kernel;
  /// How many blocks of so many threads one processor of the GPU holds at once.
  int (*count_blocks)(const void* kernel, int threads, int& blocks);
  /// What is in a variable of the device, and what is to be in it. While the kernel is absent.
  int (*read_variable)(const void* symbol, void* to, std::size_t size);
  int (*write_variable)(const void* symbol, const void* from, std::size_t size);
  /// Starts the kernel behind what is in the vendor's stream; does not wait.
  int (*launch)(const void* kernel, unsigned blocks, unsigned threads, void** arguments, void* stream);
};

/// That of this process; nullptr: no compiler for devices has made any.
[[nodiscard]] const device_code* device_code_of_process() noexcept;
/// Sets it; `code` has static storage. Always true. `layout` is queue_layout (mailbox.hpp) of the kernel: code of
/// another one than the library's is left out.
bool enlist_device_code(const device_code& code, std::uint32_t layout) noexcept;
/// Whether that has happened.
[[nodiscard]] bool device_code_was_left_out() noexcept;

}  // namespace ham::device::detail
