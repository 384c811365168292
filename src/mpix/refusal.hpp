// Why a kernel is not called: a code of MPIX_Kernel_status and a text for people.
#pragma once

#include <stdexcept>
#include <string>

namespace ham::inline v1::mpix {

/// Values as in ham/mpix_kernel.h, which the parts without MPI do not see.
enum class failure : int { none = 0, unknown = 1, mismatch = 2, untyped = 3, crashed = 4, exception = 5, not_run = 6 };

class refusal : public std::runtime_error {
 public:
  refusal(failure code, const std::string& text) : std::runtime_error(text), code_(code) {}
  [[nodiscard]] failure code() const noexcept { return code_; }

 private:
  failure code_;
};

}  // namespace ham::mpix
