// expect: ham: argument 2 cannot cross to another node: it is a raw pointer
// lines: 15
// The pointer fits the parameter, but not the other process.
#include <ham/offload.hpp>

int sum(int, const int*);

int main() {
  const int value = 0;
  return ham::offload::sync(1, ham::fn<&sum>, 1, &value);
}
