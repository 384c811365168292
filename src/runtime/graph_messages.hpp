// The messages of graphs among nodes.
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/wait_limit.hpp"
#include "ham/msg/handler_table.hpp"
#include "runtime/graph_part.hpp"

namespace ham::inline v1::detail {

// They throw what ham::offload::ping does, unless they cannot throw.

void send_to_part(engine& at, const offload::detail::part_address& to, std::uint32_t replay, std::uint32_t port,
                  std::span<const std::byte> value, const replay_terms& terms);
/// The result of a replay, to the node that has compiled the graph. Never waits for room; nothing if the node is gone.
/// Throws ham::call_error if it is too long.
void send_result(engine& at, const offload::detail::part_address& to, std::uint32_t replay,
                 std::span<const std::byte> value);
/// What begins stages, which are observed one by one.
[[nodiscard]] std::array<const msg::handler_entry*, 4> stage_messages() noexcept;
/// `wait_ns`: until when it waits for room; 0: as long as it takes.
void send_start(engine& at, const offload::detail::part_address& to, std::uint32_t replay,
                std::span<const std::byte> inputs, const replay_terms& terms, std::int64_t wait_ns);
void send_abort(engine& at, const offload::detail::part_address& to, std::uint32_t replay) noexcept;
/// For a part that executes stages on this thread: receives some of what has arrived, if no other thread does, and
/// begins nothing of it. True if `from` has sent the abort of this replay.
[[nodiscard]] bool receive_abort(engine& at, node_t from, std::uint64_t part, std::uint32_t replay) noexcept;
/// Waits for nothing. False: there is no room now, or the node is gone.
[[nodiscard]] bool try_send_abort(engine& at, const offload::detail::part_address& to, std::uint32_t replay) noexcept;
void send_failure(engine& at, const offload::detail::part_address& to, std::uint32_t replay, std::uint32_t stage,
                  const std::string& name, const std::exception_ptr& why) noexcept;
void send_loss(engine& at, const offload::detail::part_address& to, node_t node, const std::string& why) noexcept;
void send_release(engine& at, const offload::detail::part_address& to) noexcept;

/// Calls `then` if the node answers; if not, its loss is told to all graphs. Nobody holds a lock.
void probe_node(engine& at, node_t node, std::function<void()> then) noexcept;

/// On every node at once. They throw as offload::async, and what the node throws.
/// Both throw ham::deadline_exceeded or ham::operation_cancelled when the limit is reached first, and leave nothing
/// behind then.
[[nodiscard]] std::vector<std::uint64_t> reserve_parts(engine& at, std::span<const node_t> nodes,
                                                       const wait_limit& limit);
void install_parts(engine& at, std::span<const offload::detail::part_plan> plans, const wait_limit& limit);

}  // namespace ham::detail
