// Nodes that are started again when they die.
//
//   offload::supervise(1, {.max_restarts = 5, .within = 1min, .on_respawn = [](const auto& fresh) { ... }});
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "ham/offload/node_number.hpp"

namespace ham::inline v1::offload {

/// A process that has taken the place of one that had died.
struct respawned {
  node_t node = -1;         ///< the supervised number
  node_t process = -1;      ///< the number of the new process itself: the node of handles that are made on it
  std::uint64_t epoch = 0;  ///< how many processes have had the number before it
  std::string reason;       ///< why the one before has died, for people
};

struct supervision {
  std::size_t max_restarts = 5;  ///< so many within `within`; when there would be one more, the node is given up
  std::chrono::nanoseconds within = std::chrono::minutes(1);
  /// Longer than any call should take: when the oldest call of the host to the node has had no answer for so long, and
  /// there was no this_call::heartbeat() either, its process is killed, and started again. The time counts from when
  /// the call is seen to be the oldest: soon after it was sent, or the one before was answered, so that the wait in a
  /// queue of the node belongs to it. While the host waits for no call to the node, it sends an empty one to the main
  /// queue each half of the time: a process that hangs in a call of another node, a ping or a stage of a graph is
  /// ended, too. A device that finishes elements of a map gives a sign with each, a node that copies memory to others
  /// with each 64 MiB (without a deadline), one that executes a repeat of a graph by itself between iterations, one
  /// that sends a long message with each piece that arrives. 0: calls may take as long as they like. Calls of groups to
  /// a node that passes them on to others, whose answers it awaits, do not count. Use tenths of a second and more.
  std::chrono::nanoseconds hang_after{0};
  /// Rebuilds what calls need, before any other call reaches the new process. Called on a thread of the library, one
  /// for each restart: for nodes that die together it may run on several threads at once, for one node it does not. Its
  /// own calls to the number reach the new process, those of its continuations wait until it
  /// has returned. If it throws, that process is ended, and this counts as its death. If the job ends meanwhile, its
  /// calls fail, and the end of the job waits until it has returned.
  std::function<void(const respawned& fresh)> on_respawn{};
};

/// From now on the target is started again in the same way when its process dies, or leaves by itself, until it is
/// removed or the job ends. Calls to its number go to the new process; those that are made in between, from whatever
/// node, wait for it, at most until their deadline. Again, of the same node: the new settings count from now on, and a
/// node that was given up is started again. `node` may be a number of any of its processes. On the host only; any
/// thread; does not wait.
///
/// - Calls that were pending when the process died fail as ever, with ham::node_failure and what is known of whether
///   they have run. Nothing is repeated, unless it is called by retry().
/// - Handles of the process that has died (buffers, contexts, remote objects) are never those of the new one: to use
///   one throws ham::node_failure that says so, or ham::object_error; a call that has memory of it as an argument, or
///   in one (a buffer_ptr or a buffer_span; in ranges, tuples, members of aggregates without bases and unions,
///   fields, values of bind(); also one that a graph has recorded) throws ham::buffer_error, and is not sent. Handles
///   that lambdas capture, and in members of other classes, are not found: they name memory that is gone. Each process
///   has a number of its own, which handles have as their node: at first the supervised one, later others.
/// - When the limit is reached, the node is given up: calls to it throw ham::node_failure (not_run) that lists why its
///   processes have ended. So does a line on stderr, and offload::on_event.
///
/// Targets that the host has started on this machine, or has reached over tcp. Throws ham::config_error for others
/// (ranks, targets that ranks or waiting programs have started, threads of this process, nodes that were removed). One
/// that has died a moment ago is started again at once; of one that died long ago nothing is known any more, which is
/// ham::config_error, too.
void supervise(node_number node, supervision how = {});

/// The number of the process to which calls to `node` go at the moment: `node` itself, unless it was started again. Of
/// the calling thread's runtime; any node, any thread.
[[nodiscard]] node_t process_of(node_number node);
/// The supervised number whose process has, or lately had, the number `process`; else `process`. So a function of the
/// target itself learns under which number it is called: number_of(this_node()).
[[nodiscard]] node_t number_of(node_number process);

}  // namespace ham::offload

namespace ham::inline v1::this_call {

/// A sign of life to the host, for functions that may take longer than supervision::hang_after. Any thread of the
/// target; often is fine: sends at most one message in 5 ms, and none where nothing is supervised. Does not wait.
void heartbeat() noexcept;

}  // namespace ham::this_call
