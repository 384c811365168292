// Functions that end when a test lets them, however busy the machine is.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

namespace ham::inline v1::test {

inline std::atomic<bool> gate_is_open{true};

inline void hold() {
  while (!gate_is_open) std::this_thread::sleep_for(std::chrono::microseconds(100));
}
inline int held(int value) {
  hold();
  return value;
}

/// The functions above do not end before open(), or its end. One at a time; not within a child of fork.
class closed_gate {
 public:
  closed_gate() { gate_is_open = false; }
  closed_gate(const closed_gate&) = delete;
  closed_gate& operator=(const closed_gate&) = delete;
  ~closed_gate() { open(); }
  void open() { gate_is_open = true; }
};

}  // namespace ham::test
