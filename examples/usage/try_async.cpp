// try_async: a call that does not wait when the target's queue is full.
// expect: 20000 results, none lost
#include <ham/offload.hpp>

#include <deque>
#include <iostream>
#include <optional>

using namespace ham;

int same(int x) { return x; }

int main() {
  constexpr int calls = 20'000;
  std::deque<offload::future<int>> pending;
  int collected = 0;
  bool right = true;
  const auto collect_oldest = [&] {
    right = right && pending.front().get() == collected++;
    pending.pop_front();
  };

  for (int i = 0; i < calls; ++i) {
    // Queues are bounded. async would wait for room; here the time is used to take in results.
    std::optional<offload::future<int>> started;
    while (!(started = offload::try_async(1, fn<&same>, i))) {
      if (!pending.empty()) collect_oldest();
    }
    pending.push_back(std::move(*started));
  }
  while (!pending.empty()) collect_oldest();
  std::cout << collected << " results, " << (right ? "none lost" : "some wrong") << '\n';
}
