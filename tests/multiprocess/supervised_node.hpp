// A node that is started again when it dies: what tests of it call there.
#pragma once

#include <csignal>

#include "ham/offload/supervise.hpp"
#include "support.hpp"
#include "thrown_message.hpp"

namespace ham::inline v1::test {

inline int echo(int value) { return value; }
inline void sleep_ms(int time) { std::this_thread::sleep_for(std::chrono::milliseconds(time)); }
inline pid_t my_pid() { return ::getpid(); }
inline void crash() { ::raise(SIGKILL); }
/// A call that is made before this node has noticed the death of the other one fails, and is made again.
inline pid_t pid_through(node_t node) {
  for (const auto until = std::chrono::steady_clock::now() + 20s;;) {
    try {
      return offload::sync(node, fn<&my_pid>);
    } catch (const node_failure&) {
      if (std::chrono::steady_clock::now() > until) throw;
    }
  }
}
struct counter {
  int value = 0;
  int add(int more) { return value += more; }
};

inline void kill_node(node_t node) {
  auto doomed = offload::async(node, fn<&crash>);
  EXPECT_THROW(doomed.get(), node_failure);
}

}  // namespace ham::test
