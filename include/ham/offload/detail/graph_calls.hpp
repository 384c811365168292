// What the templates of offload::graph call in the library. Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "ham/msg/customise.hpp"
#include "ham/offload/detail/call_message.hpp"
#include "ham/offload/future.hpp"

namespace ham::inline v1::offload::detail {

class graph_recording;
class graph_replays;

/// Stands for no stage, or no value.
inline constexpr std::uint32_t no_stage = UINT32_MAX;

// ---- recording

/// One argument of a stage: the result of another stage, or an encoded value.
struct graph_argument {
  std::uint32_t value = no_stage;
  std::vector<std::byte> bytes{};  ///< where there is no such stage
  std::vector<node_t> handles{};   ///< the processes of memory that it names; stays here
  HAM_FIELDS(value, bytes)
};

/// Starts a transfer, and gives the slot of its future.
using graph_transfer = std::function<call_slot*()>;

[[nodiscard]] std::shared_ptr<graph_recording> make_graph_recording();
// Each gives the number of what it has recorded. They throw ham::config_error.
[[nodiscard]] std::uint32_t record_input(graph_recording& graph, const std::type_info& type);
[[nodiscard]] std::uint32_t record_call(graph_recording& graph, node_t node, msg::handler_entry& function,
                                        std::vector<graph_argument> arguments);
[[nodiscard]] std::uint32_t record_transfer(graph_recording& graph, const char* verb, graph_transfer transfer);
/// `initial`: of the value that goes from iteration to iteration; nullptr: there is none.
[[nodiscard]] std::uint32_t begin_repeat(graph_recording& graph, graph_argument* initial);
[[nodiscard]] std::uint32_t end_repeat(graph_recording& graph, std::uint32_t entry, std::uint32_t value,
                                       std::uint32_t until);
/// The body could not be recorded.
void leave_repeat(graph_recording& graph, std::uint32_t entry) noexcept;
/// Where a stage runs. Throws ham::config_error of what runs nowhere.
[[nodiscard]] node_t node_of_stage(const graph_recording& graph, std::uint32_t stage);
void record_order(graph_recording& graph, std::uint32_t stage, std::uint32_t before);
void record_name(graph_recording& graph, std::uint32_t stage, std::string name);
/// Throws ham::config_error: both belong to different graphs.
void expect_same_graph(const graph_recording* mine, const graph_recording* other);

template <class Value>
[[nodiscard]] graph_argument encoded_argument(const Value& value) {
  graph_argument made;
  made.bytes.resize(msg::encoded_size(value));
  msg::writer to(made.bytes.data(), made.bytes.size());
  msg::encode(to, value);
  to.expect_full();
  ham::detail::append_nodes_of_handles(value, made.handles);
  return made;
}

/// Whether a result of type From is encoded as a parameter of type To is.
template <class From, class To>
inline constexpr bool encoded_alike = std::is_same_v<From, To>;
template <class Char, class Traits, class Allocator>
inline constexpr bool encoded_alike<std::basic_string<Char, Traits, Allocator>, std::basic_string_view<Char, Traits>> =
    true;
template <class Element, class Allocator>
inline constexpr bool encoded_alike<std::vector<Element, Allocator>, std::span<const Element>> = true;

// ---- replays

struct replay_options {
  std::int64_t deadline_ns = 0;  ///< on steady_clock; 0: none; INT64_MAX: none, and functions are told of a stop
  std::stop_token token{};
  when_full policy = when_full::wait;
};

/// A replay that has begun, and waits for its inputs.
struct replay_ticket {
  call_slot* slot = nullptr;  ///< of its future; nullptr: there was no room
  /// Memory for them, one behind the other. In front of each there are so many bytes, which are written already.
  std::byte* inputs = nullptr;
  static constexpr std::size_t head_bytes = 4;
  std::uint32_t number = 0;  ///< 0: it has settled already
};

struct graph_shape {
  result_decoder decode;
  std::size_t in_flight;
  std::span<const std::uint32_t> inputs;  ///< in the order of the arguments of a replay; empty: as recorded
};
/// Checks the graph and installs it on its nodes. Throws ham::config_error, ham::call_error, ham::node_failure.
[[nodiscard]] std::shared_ptr<graph_replays> compile_graph(const graph_recording& graph, std::uint32_t result,
                                                           const graph_shape& shape);
/// Throws ham::call_error unless the inputs are of these types.
void check_inputs(const graph_replays& of, std::span<const std::type_info* const> types);
/// Waits until fewer replays than the graph allows are in flight. Throws ham::node_failure.
[[nodiscard]] replay_ticket enter_replay(graph_replays& of, const replay_options& how,
                                         std::span<const std::size_t> sizes);
void send_replay(graph_replays& of, const replay_ticket& entered);
/// Its inputs could not be encoded: nothing is sent, and its slot is given back.
void abandon_replay(graph_replays& of, const replay_ticket& entered) noexcept;
/// Waits for all replays, and frees what nodes have of the graph.
void close_graph(graph_replays& of) noexcept;
[[nodiscard]] std::size_t replays_in_flight(const graph_replays& of);
[[nodiscard]] ham::detail::engine& engine_of(const graph_replays& of) noexcept;

/// Abandons a replay unless it is sent.
class entered_replay {
 public:
  entered_replay(graph_replays& of, const replay_ticket& what) noexcept : of_(&of), what_(what) {}
  entered_replay(const entered_replay&) = delete;
  entered_replay& operator=(const entered_replay&) = delete;
  ~entered_replay() {
    if (of_ != nullptr) [[unlikely]]
      abandon_replay(*of_, what_);
  }
  void send() { send_replay(*std::exchange(of_, nullptr), what_); }

 private:
  graph_replays* of_;
  const replay_ticket what_;
};

/// An invalid future: there is no room, with when_full::refuse.
template <class Result, class... Args>
[[nodiscard]] future<Result> start_replay(graph_replays& of, const replay_options& how, const Args&... args) {
  const std::size_t sizes[] = {msg::encoded_size(args)..., 0};
  const replay_ticket entered = enter_replay(of, how, std::span<const std::size_t>(sizes, sizeof...(Args)));
  if (entered.number != 0) {
    entered_replay replay(of, entered);
    if constexpr ((ham::detail::holds_memory_handles<Args> || ...))
      ham::detail::refuse_old_handles(engine_of(of), args...);
    [[maybe_unused]] std::byte* at = entered.inputs;
    [[maybe_unused]] const auto encode_one = [&at](const auto& value) {
      const std::size_t size = msg::encoded_size(value);
      at += replay_ticket::head_bytes;
      msg::writer to(at, size);
      msg::encode(to, value);
      to.expect_full();
      at += size;
    };
    (encode_one(args), ...);
    replay.send();
  }
  return future_access::make<Result>(entered.slot);
}

}  // namespace ham::offload::detail
