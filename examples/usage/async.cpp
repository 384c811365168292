// async: starts calls and goes on; their results are fetched later through futures.
// expect: sum of the squares below 100: 328350
#include <ham/offload.hpp>

#include <iostream>
#include <vector>

using namespace ham;

long square(long x) { return x * x; }

int main() {
  const auto targets = static_cast<long>(offload::num_nodes()) - 1;

  // All calls are on their way before the first result is asked for. Targets take turns.
  std::vector<offload::future<long>> results;
  for (long x = 0; x < 100; ++x) {
    results.push_back(offload::async(1 + x % targets, fn<&square>, x));
  }

  // The host is free here. Results may be read in any order; get() waits for its own call only.
  long sum = 0;
  for (auto& result : results) sum += result.get();
  std::cout << "sum of the squares below 100: " << sum << '\n';
}
