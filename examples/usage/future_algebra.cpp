// Futures put together: a chain of calls, a second try, the first of several, a result that many read.
// expect: chained: 12
// expect: second try: 5
// expect: first: 1 of 3
// expect: shared: 7 and 14
// expect: as std::future: 3
#include <ham/offload.hpp>
#include <ham/offload/std_future.hpp>

#include <iostream>
#include <stdexcept>
#include <vector>

using namespace ham;
using offload::async;

int add(int x, int y) { return x + y; }
int unlucky() { throw std::runtime_error("not today"); }

int main() {
  // A continuation that returns a future is followed to its result.
  auto chained = async(1, fn<&add>, 1, 2).then([](int three) { return async(1, fn<&add>, three, 9); });
  std::cout << "chained: " << chained.get() << '\n';

  // then_result sees the settled future, with its value or its error.
  auto again = async(1, fn<&unlucky>).then_result([](offload::future<int> first) {
    return first.has_value() ? std::move(first) : async(1, fn<&add>, 2, 3);
  });
  std::cout << "second try: " << again.get() << '\n';

  // when_any owns its futures and gives them back with the index of the first.
  std::vector<offload::future<int>> race;
  for (int i = 0; i < 3; ++i) race.push_back(async(1, fn<&add>, i, 0));
  auto [index, futures] = offload::when_any(std::move(race)).get();
  const bool right = futures[index].get() == static_cast<int>(index);
  std::cout << "first: " << (right ? 1 : 0) << " of " << futures.size() << '\n';

  const auto shared = async(1, fn<&add>, 3, 4).share();
  auto doubled = shared.then([](const int& seven) { return 2 * seven; });
  std::cout << "shared: " << shared.get() << " and " << doubled.get() << '\n';

  // Who waits for a std::future makes no progress: this thread does before.
  auto plain = offload::to_std_future(async(1, fn<&add>, 1, 2));
  while (plain.wait_for(std::chrono::seconds(0)) != std::future_status::ready) offload::progress();
  std::cout << "as std::future: " << plain.get() << '\n';
}
