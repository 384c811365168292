// Functions that graphs call in more than one test, and what they leave behind.
#pragma once

#include <atomic>
#include <thread>

#include "offload/loopback_job.hpp"

namespace graph_functions {

using namespace ham::test;

inline int twice(int value) { return 2 * value; }
inline int add(int left, int right) { return left + right; }

inline std::atomic<bool> gate{false};
inline std::atomic<int> behind_gate{0};
inline int wait_for_gate(int value) {
  ++behind_gate;
  while (!gate) std::this_thread::sleep_for(100us);
  return value;
}
inline std::atomic<int> calls{0};
inline int count_call(int value) {
  ++calls;
  return value;
}

/// With two targets; the gate is closed, and nothing has been counted.
class graph_nodes : public two_targets {
 protected:
  graph_nodes() {
    gate = false;
    behind_gate = 0;
    calls = 0;
  }
};

}  // namespace graph_functions
