// What a thread of the simulated host keeps of what it has begun.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "ham/offload/group.hpp"
#include "ham/offload/pinned.hpp"
#include "sim/callees.hpp"

namespace ham::inline v1::sim {

/// What all threads of the host know of the faults that were made, and what else they share.
struct faults {
  std::set<node_t> may_be_lost;  ///< by the host
  bool any = false;              ///< so that calls between targets may fail
  bool any_added = false;
  std::vector<std::unique_ptr<offload::pool>> pools;  ///< each as long as the job: other threads may use it
};

/// What it has begun, one kind of thing each.
struct actor_records {
  struct pending {
    offload::future<std::int64_t> result;
    call_number call = 0;
    std::int64_t expected = 0;
    bool may_be_late = false;
    bool throws = false;
    bool passes_others = false;  ///< the failure of another node may be its own
    bool is_task = false;        ///< of a pool
    bool on_device = false;      ///< or of a device function
  };
  struct remote_memory {
    buffer_ptr<std::int32_t> at;
    std::vector<std::int32_t> model;
  };
  struct pinned_array {
    offload::pinned<std::int32_t> here;
    std::vector<std::int32_t> model;
  };
  /// What was added to it may not have arrived yet, or never will: its value is somewhere between these.
  struct remote_counter {
    offload::remote<counter> at;
    std::int64_t least = 0;
    std::int64_t most = 0;
    bool known = true;  ///< else others may still add to it
  };
  /// A call that may be asked to stop.
  struct stoppable_call {
    offload::future<std::int64_t> result;
    call_number call = 0;
    call_number inner = 0;  ///< the first of those that it makes; 0: none
    bool has_deadline = false;
    bool has_token = false;
    bool asked = false;  ///< or may be, by another thread
  };
  /// A call of a group: one of the oracle's for each node, with numbers from `first` on.
  struct group_call {
    std::optional<offload::future<offload::group_result<std::int64_t>>> results;
    std::optional<offload::future<chain_link>> reduced;  ///< this, or the results
    std::vector<node_t> nodes;
    call_number first = 0;
    std::int64_t value = 0;
    bool polls = false;  ///< for a stop
    bool stops = false;  ///< or is stopped all the same
    bool has_deadline = false;
    bool asked = false;    ///< to stop
    bool at_once = false;  ///< and then nothing is waited for
  };
  /// A group that is called more than once. Where no node is lost its calls begin in order, on each node.
  struct known_group {
    offload::group all;
    std::vector<std::uint32_t> streams;  ///< one for each node
  };
  /// Of one process of a supervised number.
  struct handles {
    node_t process;
    buffer_ptr<std::int32_t> memory;
    offload::remote<counter> object;
    offload::context queue;
  };
  /// What may end the calls of a group before their time.
  struct group_terms {
    bool has_deadline = false;
    bool asked = false;  ///< to stop
  };
  /// What memory may hold behind a transfer.
  enum class content : std::uint8_t { before, after, either };
  /// Memory that is written on many nodes: of each, what it holds, and what it is to hold.
  struct broadcast_memory {
    std::vector<buffer_ptr<std::int32_t>> at;
    std::vector<std::int32_t> before;
    std::vector<std::int32_t> after;
  };
  /// Memory of transfers that are stopped. `to` is that of copies.
  struct stopped_memory {
    buffer_ptr<std::int32_t> at;
    buffer_ptr<std::int32_t> to;
    std::vector<std::int32_t> model;
    std::vector<std::int32_t> model_of_to;
  };
  struct remote_queue {
    offload::context queue;
    std::uint32_t stream;
    std::uint32_t of_device;  ///< the stream of its device functions: others need not wait for their ends
  };
};

}  // namespace ham::sim
