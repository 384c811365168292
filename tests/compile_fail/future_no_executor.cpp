// expect: no matching
// An executor has a member execute(work).
#include <ham/offload.hpp>

struct pool {
  void submit(int);
};

int main() {
  return ham::offload::async(1, [] { return 1; }).then(pool(), [](int value) { return value; }).get();
}
