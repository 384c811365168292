// What has been recorded of a graph, and whether it can be.
#pragma once

#include <cstdint>
#include <string>
#include <typeinfo>
#include <vector>

#include "ham/msg/handler.hpp"
#include "ham/offload/detail/graph_calls.hpp"

namespace ham::inline v1::offload::detail {

using namespace ham::detail;

enum class stage_kind : std::uint8_t {
  input,
  call,
  transfer,  ///< of the node that has recorded it
  entry,     ///< begins an iteration of a repeat; gives its value
  decision,  ///< ends one: its arguments are its value, and whether that was the last one
  finish,    ///< the result is there; the last stage of a graph that is compiled
};

struct recorded_stage {
  stage_kind kind = stage_kind::call;
  node_t node = -1;                           ///< -1: the one that has recorded it
  std::uint32_t function = msg::invalid_key;  ///< of this node: its library may be unloaded meanwhile
  std::string name{};
  std::vector<graph_argument> arguments{};
  std::vector<std::uint32_t> after{};
  graph_transfer transfer{};
  const std::type_info* type = nullptr;  ///< of an input
  std::uint32_t loop = 0;                ///< the repeat in whose body it was recorded, from 1; 0: none
  std::uint32_t entry = no_stage;        ///< of a decision, and the other way round
};

/// The repeat of whose iterations a stage is part as one that begins, and as one whose result is used.
[[nodiscard]] constexpr std::uint32_t loop_of_begin(const recorded_stage& stage) noexcept {
  return stage.kind == stage_kind::entry ? 0 : stage.loop;
}
[[nodiscard]] constexpr std::uint32_t loop_of_result(const recorded_stage& stage) noexcept {
  return stage.kind == stage_kind::decision ? 0 : stage.loop;
}

class graph_recording {
 public:
  std::vector<recorded_stage> stages;
  std::vector<std::uint32_t> inputs;
  std::uint32_t loops = 0;
  std::uint32_t open_loop = 0;  ///< the repeat whose body is being recorded

  std::uint32_t add(recorded_stage stage);
};

/// "stage 3 (solve)".
[[nodiscard]] std::string name_of_stage(std::size_t number, const std::string& name);

/// A recording with a last stage that waits for all others, decisions that wait for all of their iteration, and what
/// each stage depends on, once each and in order.
struct finished_recording {
  std::vector<recorded_stage> stages;
  std::vector<std::vector<std::uint32_t>> needs;  ///< inputs included
  std::vector<std::uint32_t> inputs;              ///< in the order in which replays are given them
};
/// Checks the recording. Throws ham::config_error: a cycle, a value that leaves its repeat, inputs that are not all.
[[nodiscard]] finished_recording finish_recording(const graph_recording& graph, std::uint32_t result,
                                                  std::span<const std::uint32_t> inputs);

}  // namespace ham::offload::detail
