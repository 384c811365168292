// within: a time limit for one call.
// expect: too late:
// expect: in time: 7
#include <ham/offload.hpp>

#include <chrono>
#include <iostream>
#include <thread>

using namespace ham;
using namespace std::chrono_literals;

int slow(std::chrono::milliseconds time, int result) {
  std::this_thread::sleep_for(time);
  return result;
}

int main() {
  try {
    offload::sync(offload::within(1, 20ms), fn<&slow>, 1s, 1);
    return 1;
  } catch (const deadline_exceeded& error) {
    // The function may still be running there; its result will be dropped, nobody else receives it.
    std::cout << "too late: " << error.what() << '\n';
  }
  std::cout << "in time: " << offload::sync(offload::within(1, 30s), fn<&slow>, 1ms, 7) << '\n';
}
