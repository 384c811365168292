// A kernel made ready: its function, the types of its parameters, and the way to call it with received bytes.
#pragma once

#include "mpix/types.hpp"

#include <ffi.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ham::inline v1::mpix {

/// How a kernel was asked for: "name" or "name(types)", and the sizes of the arguments in bytes.
struct kernel_request {
  std::string_view name;
  std::span<const std::uint32_t> sizes;
};

/// Name without the types that the caller may have written behind it.
[[nodiscard]] std::string_view bare_name(std::string_view name) noexcept;

class kernel {
 public:
  /// Looks the function up among the program's symbols and those of loaded libraries, finds the types of its parameters
  /// and checks the sizes. Throws refusal if there is no such function, the call does not fit it, or the types are not
  /// known well enough to make the call.
  explicit kernel(const kernel_request& request);
  kernel(const kernel&) = delete;
  kernel& operator=(const kernel&) = delete;

  /// Calls it; `arguments` are the addresses of the received bytes, aligned for any type, which it may change. Its
  /// result if that is an integer, else 0. What the kernel throws passes through. Not for two threads at once.
  std::int64_t run(std::span<std::byte* const> arguments);

 private:
  enum class pass : unsigned char { value, address };
  struct step {
    std::size_t argument;
    pass how;
  };

  void plan(const signature& types, const kernel_request& request);
  void plan_without_types(const kernel_request& request, const std::string& why);
  void add(std::size_t argument, pass how, ffi_type* as) {
    steps_.push_back({argument, how});
    ffi_types_.push_back(as);
  }
  ffi_type* ffi_type_of(const type& what);
  ffi_type* ffi_structure(const type& what);
  void check_layout(const type& what, ffi_type* layout) const;

  void (*function_)() = nullptr;
  ffi_cif call_{};
  std::vector<step> steps_;
  std::vector<ffi_type*> ffi_types_;
  ffi_type* ffi_result_ = &ffi_type_void;
  type result_;
  std::deque<ffi_type> structures_;
  std::deque<std::vector<ffi_type*>> elements_;
  std::vector<void*> values_;
  std::vector<void*> addresses_;
};

}  // namespace ham::mpix
