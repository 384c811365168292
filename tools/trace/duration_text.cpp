#include "duration_text.hpp"

#include <array>
#include <cstdio>

namespace ham::inline v1::trace {

std::string duration_text(double ns, int decimals) {
  constexpr double ns_per_us = 1e3;
  constexpr double ns_per_ms = 1e6;
  constexpr double ns_per_s = 1e9;
  const double unit_ns = ns >= ns_per_s ? ns_per_s : ns >= ns_per_ms ? ns_per_ms : ns_per_us;
  const char* const unit = ns >= ns_per_s ? "s" : ns >= ns_per_ms ? "ms" : "us";
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.*f %s", decimals, ns / unit_ns, unit);
  return text.data();
}

}  // namespace ham::trace
