// when_all, when_any: waiting for several futures, of one type or of different ones.
// expect: sum 55, pi 3.14, name pi
// expect: the first of 3 was one of them
#include <ham/offload.hpp>

#include <iostream>
#include <string>
#include <vector>

using namespace ham;

int same(int x) { return x; }
double pi() { return 3.14; }
std::string name() { return "pi"; }

int main() {
  std::vector<offload::future<int>> calls;
  for (int i = 1; i <= 10; ++i) calls.push_back(offload::async(1, fn<&same>, i));

  // The result of when_all are the same futures, all settled: get() of each gives its value or throws its error.
  int sum = 0;
  for (auto& settled : offload::when_all(std::move(calls)).get()) sum += settled.get();

  auto [number, text] = offload::when_all(offload::async(1, fn<&pi>), offload::async(1, fn<&name>)).get();
  std::cout << "sum " << sum << ", pi " << number.get() << ", name " << text.get() << '\n';

  // when_any only observes: it tells which future settled first, the futures stay with us.
  std::vector<offload::future<int>> race;
  for (int i = 0; i < 3; ++i) race.push_back(offload::async(1, fn<&same>, i));
  const std::size_t first = offload::when_any(race).get();
  const bool right = race.at(first).get() == static_cast<int>(first);
  for (auto& rest : race) {
    if (rest.valid()) rest.wait();
  }
  std::cout << "the first of " << race.size() << (right ? " was one of them" : " is unknown") << '\n';
}
