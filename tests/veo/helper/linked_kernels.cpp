// The kernels and their table.
#include "linked_kernels.hpp"

#include "veo/helper/static_symbols.hpp"

extern "C" {

double ham_test_scale(double x, std::int32_t n) { return x * n; }
std::uint64_t ham_test_count(const char* text) {
  std::uint64_t count = 0;
  while (text[count] != '\0') ++count;
  return count;
}

const ham_veo_static_symbol ham_veo_static_symbols[] = {{"ham_test_scale", reinterpret_cast<void*>(&ham_test_scale)},
                                                        {"ham_test_count", reinterpret_cast<void*>(&ham_test_count)},
                                                        {nullptr, nullptr}};
}
