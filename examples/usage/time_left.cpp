// this_call::deadline: a function that fits its work into the time that its caller waits.
// expect: ^without a deadline: 1000000 steps$
// expect: ^within 300 ms: fewer steps$
// expect: ^called by a function that has a deadline: true$
// expect: ^behind a shield: false$
#include <ham/offload.hpp>

#include <chrono>
#include <iostream>
#include <thread>

using namespace ham;
using namespace std::chrono_literals;

/// As many steps as the time of the caller allows; some of it is left for the way back.
int refine(int steps) {
  const auto deadline = this_call::deadline();
  const auto now = std::chrono::steady_clock::now();
  if (deadline == deadline.max()) return steps;  // the caller has not said how long it waits
  const auto enough = now + (deadline - now) / 2;
  int done = 0;
  while (done < steps && std::chrono::steady_clock::now() < enough) {
    std::this_thread::sleep_for(1ms);
    ++done;
  }
  return done;
}

bool has_deadline() { return this_call::deadline() != std::chrono::steady_clock::time_point::max(); }
/// The remaining time travels with the calls that a function makes.
bool deadline_there(node_t node) { return offload::sync(node, fn<&has_deadline>); }
bool deadline_behind_shield(node_t node) {
  const this_call::shield cleanup;  // for what must be done in any case
  return offload::sync(node, fn<&has_deadline>);
}

int main() {
  constexpr int all = 1'000'000;
  std::cout << std::boolalpha << "without a deadline: " << offload::sync(1, fn<&refine>, all) << " steps\n";
  try {
    const int done = offload::sync(offload::within(1, 300ms), fn<&refine>, all);
    std::cout << "within 300 ms: " << (done < all ? "fewer" : "all") << " steps\n";
  } catch (const deadline_exceeded&) {  // on a loaded machine half of the time may not be enough for the way back
    std::cout << "within 300 ms: fewer steps\n";
  }
  std::cout << "called by a function that has a deadline: "
            << offload::sync(offload::within(1, 60s), fn<&deadline_there>, node_t{0}) << '\n';
  std::cout << "behind a shield: " << offload::sync(offload::within(1, 60s), fn<&deadline_behind_shield>, node_t{0})
            << '\n';
}
