// expect: ham: argument 2 cannot cross to another node: it can be neither copied nor moved
// lines: 15
// As with a mutex, in the papers' spelling.
#include <ham/offload.hpp>

#include <atomic>

struct counted {
  std::atomic<int> value;
};
int count(int, const counted&);

int main() {
  counted one;
  return ham::offload::sync(1, f2f(&count, 1, one));
}
