// The turns of event loops.
#include "ham/offload/event_fd.hpp"

#include "runtime/engine.hpp"

namespace ham::inline v1::offload {
namespace {

constexpr int max_rounds = 8;  // of 64 frames each: then the loop's other descriptors get their turn

}  // namespace

int event_fd() { return ham::detail::current().waits.loop_fd(); }

bool serve_event_fd() {
  ham::detail::engine& at = ham::detail::current();
  static_cast<void>(at.waits.loop_fd());
  at.waits.begin_loop_turn();
  bool any = false;
  for (int round = 0; round < max_rounds && at.poll_once(); ++round) any = true;
  at.waits.end_loop_turn();
  return any;
}

}  // namespace ham::offload
