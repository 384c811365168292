// expect: ham: this lambda captures a reference, a pointer or `this`
// lines: 15
// A lambda of nothing but a reference: the bytes of an address.
#include <ham/offload.hpp>

int main() {
  int count = 0;
  ham::offload::sync(1, [&count] { return count; });
}
