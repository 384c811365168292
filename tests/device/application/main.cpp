// A source that only calls device functions.
#include <ham/offload.hpp>

#include "functions.hpp"

int main() {
  const ham::offload::buffer<float> x{1, 1000};
  return ham::offload::sync(1, ham::fn<&length>, x.ptr(), std::size_t{1000}) == 0 ? 0 : 1;
}
