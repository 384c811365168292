// One replay of a compiled graph, and the errors of its end. Internal to graph_replays.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <stop_token>
#include <vector>

#include "ham/offload/exceptions.hpp"
#include "runtime/graph_replays.hpp"

namespace ham::inline v1::offload::detail {

[[nodiscard]] std::exception_ptr late_replay(call_outcome outcome);
/// The same, and the program is told by offload::on_event.
[[nodiscard]] std::exception_ptr missed_replay(engine& at, call_outcome outcome);
[[nodiscard]] std::exception_ptr stopped_replay(call_outcome outcome);

/// An entry of the table. As a continuation it tells the nodes that a replay has failed.
struct graph_replays::replay : continuation {
  replay() noexcept
      : continuation{[](continuation* self) {
          auto* const me = static_cast<replay*>(self);
          std::shared_ptr<graph_replays> of;
          of = me->owner;
          of->abort(*me);
        }} {}

  call_slot* slot = nullptr;  // of its future; nullptr: it has settled
  std::uint32_t number = 0;
  std::int64_t deadline_ns = 0;   // 0: none
  replay_terms terms;             // for nodes
  bool filling = false;           // a thread gives it its inputs
  const void* filler = nullptr;   // that one
  std::stop_token token;          // that thread's: ends its wait for room in queues
  std::atomic<bool> sent{false};  // by that thread: nodes may have begun it
  std::vector<std::byte> inputs;  // as a part is given them: each behind its size
  std::vector<std::byte> some;    // of them, for one part
  std::shared_ptr<const installation> where;
  // Of one that has failed, until its nodes are told.
  std::shared_ptr<graph_replays> owner;
  std::uint32_t failed = 0;
  std::shared_ptr<const installation> failed_where;
};

}  // namespace ham::offload::detail
