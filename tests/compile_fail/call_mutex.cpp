// expect: ham: argument 1 cannot cross to another node: it can be neither copied nor moved
// lines: 15
// Not "cannot be converted", which is true as well but helps nobody.
#include <ham/offload.hpp>

#include <mutex>

struct guarded {
  std::mutex lock;
  int value;
};
int look(const guarded&);

int main() {
  guarded one;
  return ham::offload::sync(1, ham::fn<&look>, one);
}
