// Loops that the compiler vectorises.
#include "stream/kernels.hpp"

namespace stream {

cost cost_of(kernel which) {
  switch (which) {
    case kernel::copy: return {"Copy", 16, 0};
    case kernel::scale: return {"Scale", 16, 1};
    case kernel::add: return {"Add", 24, 1};
    case kernel::triad: break;
  }
  return {"Triad", 24, 2};
}

void run(kernel which, double* __restrict a, double* __restrict b, double* __restrict c, std::size_t size) {
  switch (which) {
    case kernel::copy:
      for (std::size_t i = 0; i < size; ++i) c[i] = a[i];
      break;
    case kernel::scale:
      for (std::size_t i = 0; i < size; ++i) b[i] = factor * c[i];
      break;
    case kernel::add:
      for (std::size_t i = 0; i < size; ++i) c[i] = a[i] + b[i];
      break;
    case kernel::triad:
      for (std::size_t i = 0; i < size; ++i) a[i] = b[i] + factor * c[i];
      break;
  }
}

element initial(std::size_t index) {
  return {1.0 + static_cast<double>(index % 13), 2.0 + static_cast<double>(index % 7), 0.0};
}

element after(element start, kernel last) {
  element now = start;
  now.c = now.a;
  if (last >= kernel::scale) now.b = factor * now.c;
  if (last >= kernel::add) now.c = now.a + now.b;
  if (last >= kernel::triad) now.a = now.b + factor * now.c;
  return now;
}

}  // namespace stream
