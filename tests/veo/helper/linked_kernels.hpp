// Kernels of this program, as mk_veorun_static would link them in.
#pragma once

#include <cstdint>

extern "C" {
double ham_test_scale(double x, std::int32_t n);
std::uint64_t ham_test_count(const char* text);
}

namespace ham::inline v1::veo::test {

template <class Function>
std::uint64_t address_of(Function* function) {
  return reinterpret_cast<std::uintptr_t>(function);
}

}  // namespace ham::veo::test
