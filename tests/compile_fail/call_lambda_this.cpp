// expect: ham: this lambda captures a reference, a pointer or `this`
// lines: 15
// The address of an object of this node.
#include <ham/offload.hpp>

struct solver {
  double factor = 1;
  double run() const {
    return ham::offload::sync(
        1, [this](double x) { return factor * x; }, 2.0);
  }
};

int main() { return static_cast<int>(solver().run()); }
