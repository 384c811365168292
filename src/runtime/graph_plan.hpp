// How a graph is divided among its nodes: what each of them is told of its part.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ham/msg/customise.hpp"
#include "runtime/graph_recording.hpp"

namespace ham::inline v1::offload::detail {

/// A part as others reach it.
struct part_address {
  node_t node = -1;      ///< the process
  std::uint64_t id = 0;  ///< there
  HAM_FIELDS(node, id)
};

/// The result of a stage, or that it has ended, goes to another part.
struct part_target {
  std::uint32_t part = 0;
  std::uint32_t port = 0;  ///< there
  bool with_value = false;
  bool is_result = false;  ///< of the replay: its node needs no part to take it
  HAM_FIELDS(part, port, with_value, is_result)
};

/// A stage as the node knows it that runs it. Results of the part's stages, what its ports receive, and inputs are its
/// values, numbered in this order.
struct part_stage {
  std::uint8_t kind = 0;     ///< stage_kind
  std::uint32_t number = 0;  ///< in the recording
  std::uint32_t key = 0;     ///< the node's, of the function of a call; of a transfer: which one
  std::string name{};
  std::vector<graph_argument> sources{};
  std::uint32_t needs = 0;            ///< what it waits for in a replay
  std::uint32_t needs_again = 0;      ///< in every further iteration
  std::vector<std::uint32_t> next{};  ///< stages of this part that wait for it
  std::vector<part_target> targets{};
  std::uint32_t entry = no_stage;  ///< of a decision, in this part
  HAM_FIELDS(kind, number, key, name, sources, needs, needs_again, next, targets, entry)
};

struct part_plan {
  static constexpr std::uint32_t max_frames = 1U << 16;
  static constexpr std::size_t max_values = std::size_t{1} << 22;  ///< of all frames: some 100 bytes each

  std::uint32_t frames = 1;  ///< replays that may be in flight; a power of two
  std::uint32_t before = 0;  ///< the number of a replay that comes before all of this part's
  std::uint32_t own = 0;     ///< which of the parts it is; 0 is the one of the node that has recorded it
  std::vector<part_address> parts{};
  std::vector<std::uint32_t> neighbours{};  ///< parts that it sends to, or hears of
  std::vector<part_stage> stages{};
  std::vector<std::vector<std::uint32_t>> ports{};  ///< the stages that wait for each
  std::uint32_t inputs = 0;                         ///< that the start of a replay brings
  std::vector<std::uint32_t> starting{};            ///< stages that wait for the start
  HAM_FIELDS(frames, before, own, parts, neighbours, stages, ports, inputs, starting)

  [[nodiscard]] std::size_t values() const noexcept { return stages.size() + ports.size() + inputs; }
};

/// Throws ham::call_error for a plan whose numbers lead nowhere, or that needs too much memory: it may have come from a
/// peer.
void check_part(const part_plan& plan);

/// A graph divided. Addresses are not known yet, and keys are 0.
struct graph_plan {
  std::vector<part_plan> parts;                       ///< the first one is that of the node that has recorded it
  std::vector<node_t> nodes;                          ///< of the parts, as they were recorded
  std::vector<std::vector<std::uint32_t>> functions;  ///< of the stages of the parts: keys here; invalid_key: none
  std::vector<graph_transfer> transfers;
  std::vector<std::vector<std::uint32_t>> inputs;  ///< which a part is given, as places among those of a replay
  std::vector<const std::type_info*> types;        ///< of the inputs of a replay
  std::vector<node_t> handles;                     ///< the processes of memory that recorded arguments name, once each
  std::uint32_t result_part = 0;                   ///< that sends the result; 0: the first one makes it itself
  /// Whether a part is given all inputs, in their order.
  [[nodiscard]] bool takes_all_inputs(std::size_t part) const noexcept {
    if (inputs[part].size() != types.size()) return false;
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (inputs[part][i] != i) return false;
    }
    return true;
  }
};
[[nodiscard]] graph_plan divide_graph(const finished_recording& graph, node_t self, std::uint32_t frames);

}  // namespace ham::offload::detail
