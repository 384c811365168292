// co_await: dependent calls written one after the other, in a coroutine that never blocks its thread.
// expect: collatz from 27 takes 111 steps, from 97 it takes 118
#include <ham/offload.hpp>

#include <iostream>

using namespace ham;

long next(long n) { return n % 2 == 0 ? n / 2 : 3 * n + 1; }

// Each step is a call of its own on the target and needs the result of the one before.
offload::task<int> count_steps(long n) {
  int steps = 0;
  while (n != 1) {
    n = co_await offload::async(1, fn<&next>, n);
    ++steps;
  }
  co_return steps;
}

int main() {
  // Both coroutines start at once and take turns while get() makes progress.
  auto first = count_steps(27);
  auto second = count_steps(97);
  std::cout << "collatz from 27 takes " << first.get() << " steps, from 97 it takes " << second.get() << '\n';
}
