// expect: ham: this lambda captures a reference, a pointer or `this`
// A lambda of nothing but a reference, which values are bound to.
#include <ham/offload.hpp>

int main() {
  int count = 0;
  ham::offload::sync(1, ham::bind([&count](int more) { return count + more; }, 1));
}
