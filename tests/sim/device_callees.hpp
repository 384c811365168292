// Device functions that the nodes of a simulated job are asked for. On a node without a device each runs as any other.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "ham/device.hpp"
#include "sim/callees.hpp"

namespace ham::inline v1::sim {

// As work(), by the threads of each scope.
std::int64_t device_work(call_number call, std::int64_t value, std::int64_t takes_ns);
std::int64_t device_work_of_warp(call_number call, std::int64_t value, std::int64_t takes_ns);
std::int64_t device_work_of_block(call_number call, std::int64_t value, std::int64_t takes_ns);
std::int64_t device_work_of_grid(call_number call, std::int64_t value, std::int64_t takes_ns);

/// sum_of() the values, of which each thread adds its part.
std::int64_t device_total(call_number call, std::span<const std::int32_t> values);
/// The same of memory of the node.
std::int64_t device_total_at(call_number call, offload::buffer_ptr<std::int32_t> at, std::uint64_t count);
/// Writes first, first + 1, ... there; gives `count`.
std::int64_t device_fill(call_number call, offload::buffer_ptr<std::int32_t> at, std::uint64_t count,
                         std::int32_t first);

// Of groups: the calls of the nodes have numbers from `first` on.
std::int64_t device_work_of_member(call_number first, std::int64_t value, std::int64_t takes_ns);
std::int64_t device_block_of_member(call_number first, std::int64_t value, std::int64_t takes_ns);
// As stage() and iteration(), of graphs.
std::int64_t device_stage(call_number first, std::uint32_t index, std::int64_t one, std::int64_t other,
                          std::int64_t takes_ns);
std::int64_t device_iteration(call_number first, std::int64_t done, std::int64_t takes_ns);
/// Of maps.
std::int64_t device_work_item(map_item one);

/// Prints so many lines (printed_line), and has work() executed on a node behind them, as `last`, whose result it
/// gives; unreachable: that has failed.
std::int64_t device_print(call_number call, node_t to, call_number last, std::uint32_t lines);
/// Does not heed a stop, and returns only long after its process must have ended for that. Gives -1.
std::int64_t device_hang(call_number call);

/// Throws something.
std::int64_t device_throwing(call_number call);
/// A fault of the device; not for nodes without one.
std::int64_t device_trap(call_number call);

/// As until_stopped(); not for nodes without a device, which tell such a function of no stop.
std::int64_t device_until_stopped(call_number call);
std::int64_t device_block_until_stopped(call_number call);

/// Has note() executed on a node, as the calls from `first` on, and work() as the last of the `count` calls, whose
/// result it gives; unreachable: that has failed.
std::int64_t device_report(call_number call, node_t to, call_number first, std::uint32_t count);
inline constexpr std::int64_t unreachable = -1;

/// No device function: calls one on a node, perhaps its own, as `inner`, and gives its result.
std::int64_t work_on_device(call_number call, node_t to, call_number inner, std::int64_t value);

/// No device function: as work(), while the resident kernel of this node is absent.
std::int64_t work_alone(call_number call, std::int64_t value, std::int64_t takes_ns);

/// What the device of this node still has of calls and messages.
[[nodiscard]] std::string left_over_of_device();

}  // namespace ham::sim

HAM_DEVICE_FUNCTION(ham::sim::device_work, thread)
HAM_DEVICE_FUNCTION(ham::sim::device_work_of_warp, warp)
HAM_DEVICE_FUNCTION(ham::sim::device_work_of_block, block)
HAM_DEVICE_FUNCTION(ham::sim::device_work_of_grid, grid)
HAM_DEVICE_FUNCTION(ham::sim::device_total, block)
HAM_DEVICE_FUNCTION(ham::sim::device_total_at, warp)
HAM_DEVICE_FUNCTION(ham::sim::device_fill, grid)
HAM_DEVICE_FUNCTION(ham::sim::device_work_of_member, thread)
HAM_DEVICE_FUNCTION(ham::sim::device_block_of_member, block)
HAM_DEVICE_FUNCTION(ham::sim::device_stage, block)
HAM_DEVICE_FUNCTION(ham::sim::device_iteration, warp)
HAM_DEVICE_FUNCTION(ham::sim::device_work_item, warp)
HAM_DEVICE_FUNCTION(ham::sim::device_print, thread)
HAM_DEVICE_FUNCTION(ham::sim::device_hang, thread)
HAM_DEVICE_FUNCTION(ham::sim::device_throwing, thread)
HAM_DEVICE_FUNCTION(ham::sim::device_trap, block)
HAM_DEVICE_FUNCTION(ham::sim::device_until_stopped, thread)
HAM_DEVICE_FUNCTION(ham::sim::device_block_until_stopped, block)
HAM_DEVICE_FUNCTION(ham::sim::device_report, thread)
