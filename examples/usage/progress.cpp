// progress: a host that computes lets calls of its targets in when it likes.
// expect: the target has reported 3 times
#include <ham/offload.hpp>

#include <chrono>
#include <iostream>

using namespace ham;
using namespace std::chrono_literals;

int reports = 0;
void report() { ++reports; }
void work_and_report() {
  for (int i = 0; i < 3; ++i) offload::sync(0, fn<&report>);
}

int main() {
  auto work = offload::async(1, fn<&work_and_report>);
  double own_work = 0;
  while (reports < 3) {
    own_work += 1e-3;     // a step of the host's own computation
    offload::progress();  // executes what has arrived, and does not wait
  }
  offload::progress_for(1ms);  // the same for a time, asleep if there is nothing
  work.get();
  std::cout << "the target has reported " << reports << " times\n";
}
