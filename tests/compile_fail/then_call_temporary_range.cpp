// expect: ham: this range is a temporary, which may be gone before its elements have been sent
// lines: 15
// Nothing waits for the bytes of a put with a call before the statement ends.
#include <ham/offload.hpp>

#include <vector>

int solve();

int main() {
  const ham::offload::buffer<int> there(1, 3);
  return ham::offload::put(std::vector<int>(3), there, ham::offload::then_call(ham::fn<&solve>)).get();
}
