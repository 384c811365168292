// expect: ham: this range is a temporary
// lines: 15
// The transfer may still be under way when the vector has gone: put_sync takes it.
#include <ham/offload.hpp>

#include <vector>

int main() {
  const ham::buffer<int> there(1, 4);
  const auto pending = ham::offload::put(std::vector<int>(4), there);
  return pending.valid() ? 0 : 1;
}
