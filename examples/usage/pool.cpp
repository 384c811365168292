// Pool: tasks go to the least busy of several nodes; those that may be repeated survive the loss of one.
// expect: ^4 squared is 16$
// expect: ^sum of squares below 1000: 332833500$
// expect: ^3 of 3 tasks have found room at once$
// expect: ^roots as they come: 100 of 100$
// expect: ^100 of 100 tasks done, 2 of 3 nodes left$
// env: HAM_NODES=shm:3
#include <ham/offload.hpp>
#include <ham/offload/pool.hpp>

#include <cmath>
#include <csignal>
#include <iostream>
#include <numeric>
#include <ranges>
#include <vector>

using namespace ham;

long square(long value) { return value * value; }
double root(double value) { return std::sqrt(value); }
void crash() { std::raise(SIGKILL); }

int main() {
  offload::pool workers;  // all targets; or offload::pool workers({1, 2}, {.per_node = 8})
  std::cout << "4 squared is " << workers.async(fn<&square>, 4).get() << '\n';

  // Many small ones: few messages of many elements each. The results are in the order of the range.
  const std::vector<long> squares = workers.map(std::views::iota(0L, 1000L), fn<&square>);
  std::cout << "sum of squares below 1000: " << std::reduce(squares.begin(), squares.end()) << '\n';

  // Gives nothing while the nodes have as many as they may, here one each; async would wait.
  offload::pool small({1, 2, 3}, {.per_node = 1});
  std::size_t begun = 0;
  for (long i = 0; i < 3; ++i) begun += small.try_async(fn<&square>, i).has_value() ? 1 : 0;
  std::cout << begun << " of 3 tasks have found room at once\n";

  // As they come, and how far it is.
  const std::vector<double> values(100, 2.0);
  std::size_t come = 0, told = 0;
  const auto sink = [&](std::size_t, double result) { come += result > 1.4 ? 1 : 0; };
  workers.map(values, fn<&root>, sink,
              {.chunk = 10, .on_progress = [&](std::size_t done, std::size_t) { told = done; }});
  std::cout << "roots as they come: " << come << " of " << told << '\n';

  // A node dies while it has tasks: those that are idempotent run on another one.
  auto doomed = offload::async(2, fn<&crash>);
  std::vector<offload::future<long>> tasks;
  for (long i = 0; i < 100; ++i) tasks.push_back(workers.async(idempotent(fn<&square>), i));
  long done = 0;
  for (long i = 0; i < 100; ++i) done += tasks[static_cast<std::size_t>(i)].get() == i * i ? 1 : 0;
  static_cast<void>(doomed.has_value());
  static_cast<void>(workers.map(values, idempotent(fn<&root>)));
  std::cout << done << " of 100 tasks done, " << workers.living() << " of 3 nodes left\n";
}
