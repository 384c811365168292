// Verbs that are in files of their own.
#pragma once

#include <cstdint>
#include <functional>

#include "soak/worker.hpp"

namespace soak {

// ---- stop_verbs.cpp
void stop_verb(worker& self);
void token_verb(worker& self);
void shield_verb(worker& self);
void time_verb(worker& self);
void late_stop_verb(worker& self);

// ---- future_verbs.cpp
void policy_verb(worker& self);
void coroutine_verb(worker& self);
void combined_verb(worker& self);
void executor_verb(worker& self);
void event_loop_verb(worker& self);
void sender_verb(worker& self);
void stopped_sender_verb(worker& self);

// ---- verbs.cpp
/// The checksum, on `to`, of what was copied there from a buffer of `from`.
void take_copy(worker& self, offload::future<std::uint64_t> sum, stamp call, node_t from, node_t to,
               std::uint64_t wanted);

// ---- memory_verbs.cpp
void then_call_verb(worker& self);
void copy_then_call_verb(worker& self);
void span_verb(worker& self);
void pinned_verb(worker& self);
void stopped_transfer_verb(worker& self);
void matrix_verb(worker& self);

// ---- shared_verbs.cpp
void pool_verb(worker& self);
void map_verb(worker& self);
void group_verb(worker& self);
void reduction_verb(worker& self);
void broadcast_verb(worker& self);

// ---- graph_verbs.cpp
void graph_verb(worker& self);
void repeat_verb(worker& self);
void failing_graph_verb(worker& self);
void graph_death_verb(worker& self);

// ---- output_verb.cpp: without targets that this process has started it does nothing
void output_verb(worker& self);

// ---- supervised_verbs.cpp: without a supervised target they do nothing
void supervised_verb(worker& self);
void retry_verb(worker& self);
void old_handle_verb(worker& self);
void kill_call_verb(worker& self);
void hang_verb(worker& self);
/// A call to the supervised number: `get` gives its result, or throws what became of it.
void take_supervised(worker& self, stamp made, std::uint64_t mark, std::uint64_t wanted,
                     const std::function<std::uint64_t()>& get);
/// Whether a loss of the supervised node may be; else it is a problem.
bool may_be_lost(worker& self, std::uint64_t mark, const node_failure& why);

}  // namespace soak
