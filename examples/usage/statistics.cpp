// stats: how many calls were made and how many bytes moved by this process.
// expect: 10 calls and 8000 bytes more than before
#include <ham/offload.hpp>

#include <iostream>
#include <vector>

using namespace ham;

void nothing() {}

int main() {
  const std::vector<double> numbers(1000, 1.0);
  const offload::buffer<double> memory{1, numbers.size()};

  const auto before = offload::stats();
  for (int i = 0; i < 10; ++i) offload::sync(1, fn<&nothing>);
  const auto between = offload::stats();
  offload::put_sync(numbers.data(), memory.ptr(), numbers.size());
  const auto after = offload::stats();

  std::cout << between.calls_sent - before.calls_sent << " calls and " << after.bytes_put - between.bytes_put
            << " bytes more than before\n";
}
