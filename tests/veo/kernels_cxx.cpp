// A kernel in C++: containers, and an exception that nobody catches.
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

extern "C" std::uint64_t cxx_sum(std::uint64_t n) {
  std::vector<std::uint64_t> all(n);
  std::iota(all.begin(), all.end(), 1);
  return std::accumulate(all.begin(), all.end(), std::uint64_t{0});
}

extern "C" std::uint64_t cxx_throw() { throw std::runtime_error("nobody catches this"); }
