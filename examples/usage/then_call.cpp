// put, then call: the call runs on the node when the bytes are there, and the host waits once, for its result.
// expect: sum 4950
// expect: largest 99 on node 2
// expect: a buffer as well: 4950
// expect: nothing was called: cannot access
#include <ham/offload.hpp>

#include <algorithm>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

using namespace ham;

using numbers = offload::buffer_ptr<int>;

int sum(numbers at, std::size_t count) { return std::accumulate(at.get(), at.get() + count, 0); }
std::string largest(numbers at, std::size_t count) {
  return std::to_string(*std::max_element(at.get(), at.get() + count)) + " on node " +
         std::to_string(offload::this_node());
}

int main() {
  std::vector<int> data(100);
  std::iota(data.begin(), data.end(), 0);
  const offload::buffer<int> one(1, 100);
  const offload::buffer<int> two(2, 100);

  auto total = offload::put(data.data(), one.ptr(), 100, offload::then_call(fn<&sum>, one.ptr(), 100));
  std::cout << "sum " << total.get() << '\n';

  // Between nodes as well: the call runs where the bytes arrive.
  auto most = offload::copy(one.ptr(), two.ptr(), 100, offload::then_call(fn<&largest>, two.ptr(), 100));
  std::cout << "largest " << most.get() << '\n';

  // A range and a buffer, instead of pointers and a count.
  std::cout << "a buffer as well: " << offload::put(data, one, offload::then_call(fn<&sum>, one, 100)).get() << '\n';

  data.resize(101);  // one more than there is room for
  try {
    offload::put(data.data(), one.ptr(), 101, offload::then_call(fn<&sum>, one.ptr(), 101)).get();
  } catch (const buffer_error& error) {
    std::cout << "nothing was called: " << error.what() << '\n';
  }
}
// env: HAM_NODES=shm:2
