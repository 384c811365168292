// Several threads of the host call at the same time; no lock is needed.
// expect: 4 threads made 4000 calls, their sum is 7998000
#include <ham/offload.hpp>

#include <iostream>
#include <numeric>
#include <thread>
#include <vector>

using namespace ham;

long same(long x) { return x; }

int main() {
  constexpr long threads = 4;
  constexpr long calls_each = 1000;
  std::vector<long> sums(threads);
  std::vector<std::thread> workers;
  for (long t = 0; t < threads; ++t) {
    workers.emplace_back([t, &sums] {
      for (long i = 0; i < calls_each; ++i) {
        sums[static_cast<std::size_t>(t)] += offload::sync(1, fn<&same>, t * calls_each + i);
      }
    });
  }
  for (auto& worker : workers) worker.join();
  std::cout << threads << " threads made " << threads * calls_each << " calls, their sum is "
            << std::accumulate(sums.begin(), sums.end(), 0L) << '\n';
}
