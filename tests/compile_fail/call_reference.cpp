// expect: ham: argument 2 is taken by non-const reference and cannot cross
// lines: 15
// The function would change a copy.
#include <ham/offload.hpp>

void scale(int, double&);

int main() {
  double value = 1;
  ham::offload::ping(1, ham::fn<&scale>, 2, value);
}
