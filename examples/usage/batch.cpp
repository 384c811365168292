// batch: many small calls to one target in one message, their results back in one.
// expect: 1000 calls, results add up to 999000
#include <ham/offload.hpp>

#include <iostream>
#include <vector>

using namespace ham;

int twice(int x) { return 2 * x; }

int main() {
  offload::batch calls(1);
  std::vector<offload::future<int>> results;
  for (int i = 0; i < 1000; ++i) results.push_back(calls.add(fn<&twice>, i));
  const std::size_t count = calls.size();

  // Nothing was sent so far. The calls run in the order in which they were added.
  calls.submit();

  long sum = 0;
  for (auto& result : results) sum += result.get();
  std::cout << count << " calls, results add up to " << sum << '\n';
}
