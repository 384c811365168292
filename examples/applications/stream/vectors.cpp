// Aligned memory that is first touched where it is used.
#include "stream/vectors.hpp"

#include <array>
#include <cstdlib>
#include <new>

namespace stream {

vectors::vectors(std::uint64_t size) : size_(size), a_(make(size)), b_(make(size)), c_(make(size)) {
  for (std::size_t i = 0; i < size_; ++i) {
    const element start = initial(i);
    a_[i] = start.a;
    b_[i] = start.b;
    c_[i] = start.c;
  }
}

void vectors::release::operator()(double* array) const { std::free(array); }

vectors::array vectors::make(std::size_t size) {
  constexpr std::size_t line = 64;
  const std::size_t bytes = (size * sizeof(double) + line - 1) / line * line;
  array made(static_cast<double*>(std::aligned_alloc(line, bytes)));
  if (!made) throw std::bad_alloc();
  return made;
}

void vectors::run(kernel which, std::uint64_t passes) {
  for (std::uint64_t i = 0; i < passes; ++i) stream::run(which, a_.get(), b_.get(), c_.get(), size_);
}

std::uint64_t vectors::wrong(kernel last) const {
  constexpr std::size_t period = 7 * 13;  // of initial()
  std::array<element, period> expected;
  for (std::size_t i = 0; i < period; ++i) expected[i] = after(initial(i), last);
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < size_; ++i) {
    const element& right = expected[i % period];
    count += a_[i] == right.a && b_[i] == right.b && c_[i] == right.c ? 0 : 1;
  }
  return count;
}

}  // namespace stream
