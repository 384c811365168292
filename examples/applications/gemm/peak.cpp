// Which vector unit there is, and how often its loop runs in a time.
#include "gemm/peak.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include "gemm/peak_kernel.hpp"

namespace gemm {
namespace {

template <class Number>
struct unit {
  const char* name;
  std::size_t bytes;
  Number (*rounds)(std::size_t, Number, Number);
};

template <class Number>
unit<Number> best_unit() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {"AVX-512", 64, &peak_avx512};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {"AVX2 with FMA", 32, &peak_avx2};
#endif
  return {"baseline", 16, &peak_plain};
}

template <class Number>
peak measure(double milliseconds) {
  const unit<Number> with = best_unit<Number>();
  constexpr std::size_t rounds = 20'000;
  const double flops = 2.0 * rounds * peak_accumulators * static_cast<double>(with.bytes / sizeof(Number));
  volatile Number factor = Number(0.999);
  volatile Number term = Number(0.5);
  [[maybe_unused]] volatile Number used = 0;
  std::vector<double> rates;
  const auto begin = std::chrono::steady_clock::now();
  auto now = begin;
  do {
    const auto start = now;
    used = with.rounds(rounds, factor, term);
    now = std::chrono::steady_clock::now();
    rates.push_back(flops / std::chrono::duration<double>(now - start).count());
  } while (std::chrono::duration<double, std::milli>(now - begin).count() < milliseconds);
  const auto middle = rates.begin() + static_cast<std::ptrdiff_t>(rates.size() / 2);
  std::nth_element(rates.begin(), middle, rates.end());
  return {*middle * 1e-9, with.name};
}

}  // namespace

peak measure_peak(precision which, double milliseconds) {
  return which == precision::double_ ? measure<double>(milliseconds) : measure<float>(milliseconds);
}

}  // namespace gemm
