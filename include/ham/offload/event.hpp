// What happens to the nodes of a job, told to the program as it happens: joined, lost, queue full, deadline missed.
//
//   offload::on_event([](const offload::event& what) { log(what.kind, what.node, what.reason); });
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "ham/misc/types.hpp"

namespace ham::inline v1::offload {

using ham::node_t;

/// Further values may be added.
enum class event_kind : std::uint8_t {
  joined,           ///< the node can be called from now on
  lost,             ///< the node cannot be called any more: `reason` says why
  queue_full,       ///< a call or batch had to wait for room in the queue to the node
  deadline_missed,  ///< a call, transfer or replay has failed with ham::deadline_exceeded: `reason` says which
  hang,             ///< a supervised node is ended because it hangs: `reason` names the call
  respawned,        ///< another process has the number of the supervised node: `reason` is why the one before died
  given_up,         ///< the supervised node is not started again: `reason` lists why its processes have ended
};

/// Text of a kind: "deadline missed".
[[nodiscard]] const char* to_string(event_kind kind) noexcept;

/// One thing that has happened, as on_event tells it.
struct event {
  event_kind kind = event_kind::joined;  ///< what has happened
  node_t node = -1;                      ///< -1: several, where more has happened than there is room to tell one by one
  std::uint64_t count = 1;               ///< how often, since it was told last; `reason` is that of the first time
  bool orderly = false;                  ///< of lost: on purpose, see ham::node_failure::orderly
  std::string reason;                    ///< for people; may be empty
};

/// What on_event calls; see there.
using event_handler = std::function<void(const event&)>;

/// Has `handler` called, from now on, for each event of the calling thread's runtime, as this node sees it; an empty
/// one ends that. Without a handler nothing is kept, and nothing of the kind costs anything.
///
/// The handler is called by a thread that makes progress (in sync, get, progress, an event loop, a progress thread) and
/// holds no lock, one event at a time, in the order in which they happened. It may use ham::offload. What it throws
/// becomes a line on stderr. Events that happen while it runs are told afterwards.
///
/// Nothing is lost, and the memory is bounded: what is full or missed several times before it can be told is one event
/// with a count, and when a thousand events wait, further ones are counted by kind, with the node -1. Not told: the end
/// of this runtime, and that of the nodes with it. When a handler has been exchanged, another thread may still be in
/// the one before. Any thread. Throws ham::config_error if no runtime is up, std::bad_alloc.
void on_event(event_handler handler);

}  // namespace ham::offload
