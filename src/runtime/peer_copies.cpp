#include "runtime/peer_copies.hpp"

#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "runtime/always_runs.hpp"
#include "runtime/block_parts.hpp"
#include "runtime/device_heap.hpp"
#include "runtime/local_memory.hpp"
#include "runtime/memory_access.hpp"
#include "runtime/message_transfer.hpp"

namespace ham::inline v1::offload::detail {
namespace {

using ham::detail::arena_use;
using ham::detail::device_heap;
using ham::detail::peer_arenas;
using ham::detail::peer_hold;

/// Of one message: the device of the target begins with the first while others are on their way.
constexpr std::size_t max_arena_bytes = std::size_t{8} << 20;
constexpr std::size_t max_arena_copies = 64;  // under way

[[nodiscard]] far_arena named(const transport::arena_handle& handle) noexcept { return {handle.size, handle.content}; }
[[nodiscard]] transport::arena_handle handle_of(const far_arena& named) noexcept {
  return named.size > transport::arena_handle::max_bytes ? transport::arena_handle{}
                                                         : transport::arena_handle{named.size, named.content};
}

/// Bytes from the first to behind the last of some rows. False: rows that overlap, none, or more than addresses.
[[nodiscard]] bool extent_of_rows(std::uint64_t rows, std::uint64_t row_bytes, std::uint64_t pitch,
                                  std::uint64_t& extent) noexcept {
  if (rows == 0 || row_bytes == 0) return false;
  if (rows == 1) pitch = row_bytes;
  return pitch >= row_bytes && !__builtin_mul_overflow(rows - 1, pitch, &extent) &&
         !__builtin_add_overflow(extent, row_bytes, &extent);
}

[[nodiscard]] bool is_within(std::uint64_t offset, std::uint64_t extent, std::uint64_t bytes) noexcept {
  return offset <= bytes && extent <= bytes - offset;
}

[[nodiscard]] bool of_this_machine(const engine& at, const ham::detail::peer& who) {
  const std::string host = who.about.host();
  return !host.empty() && host == at.own.about.host();
}

/// Whether the terms of a transfer let a device make it, and `node` may have one that does.
[[nodiscard]] bool may_be_copied(engine& at, node_t node, raw_buffer there, element of, const transfer_terms& how) {
  if (there.tag == 0 || how.deadline_ns != 0 || !at.memory.one_sided()) return false;
  const peer_hold who = at.peer_of(node);
  return of_this_machine(at, *who) && swap_width(at, *who, of) == 0;
}

/// Of another build that does not have the function: it is not asked again.
template <class Ask>
[[nodiscard]] auto answer_or(Ask ask, decltype(ask()) otherwise) -> decltype(ask()) {
  try {
    return ask();
  } catch (const call_error&) {
    return otherwise;
  }
}

/// Whether `node` copies out of this node's arena. Asks it, until it has said yes or no.
[[nodiscard]] bool reads_arena(engine& at, node_t node, const transfer_terms& how) {
  const transport::arena_handle& own = at.memory.device()->arenas().own();
  if (own.size == 0) return false;
  arena_use known = at.peer_of(node)->reads_arena.load(std::memory_order_relaxed);
  if (known != arena_use::unknown) return known == arena_use::open;
  const auto answer = answer_or([&] { return async(messages_to(at, node, how), opening_arena, named(own)).get(); },
                                static_cast<std::uint8_t>(arena_use::refused));
  known = answer == static_cast<std::uint8_t>(arena_use::unknown) ? arena_use::unknown
          : answer == static_cast<std::uint8_t>(arena_use::open)  ? arena_use::open
                                                                  : arena_use::refused;
  at.peer_of(node)->reads_arena.store(known, std::memory_order_relaxed);
  return known == arena_use::open;
}

/// Waits for all of them, and throws what the first one that failed has failed with.
void await_copies(std::vector<future<void>>& copies) {
  std::exception_ptr first;
  for (future<void>& one : copies) {
    std::exception_ptr failed = one.error();
    if (first == nullptr) first = std::move(failed);
  }
  if (first != nullptr) std::rethrow_exception(first);
}

[[noreturn]] void refuse_arena(const engine& at, node_t whose) {
  throw buffer_error("node " + std::to_string(at.self()) + " cannot copy out of the device memory of node " +
                     std::to_string(whose) + " (it has no memory of a device, or has not mapped that of the other)");
}

/// As peer_arenas::ask, of a peer that may have been lost before.
[[nodiscard]] peer_arenas::state ask_for(device_heap& device, const ham::detail::peer& whose,
                                         const transport::arena_handle& handle) {
  const peer_arenas::state how = device.arenas().ask(whose.node, handle);
  if (whose.state.load(std::memory_order_acquire) == ham::detail::peer_state::lost) device.forget_peer(whose.node);
  return how;
}

[[maybe_unused]] const bool peer_copies_always_run =
    ham::detail::always_run(opening_arena, copying_out_of_arena, fn<&place_in_arena_here>);

}  // namespace

bool copy_to_peer_device(engine& at, raw_buffer from, node_t to_node, raw_buffer to, const block_rows& what, element of,
                         transfer_terms how) {
  const engine_scope scope(&at);
  if (!may_be_copied(at, to_node, to, of, how) || !reads_arena(at, to_node, how)) return false;
  device_heap& device = *at.memory.device();
  at.memory.count_put(what.rows * what.row_bytes);
  device.await_started();  // the other device does not wait for what this one writes
  const std::uint64_t offset = from.address - device.allocations().address();
  std::vector<future<void>> copies;
  const auto begin_part = [&](const copied_part& part) {
    if (copies.size() >= max_arena_copies) copies[copies.size() - max_arena_copies].wait();
    const far_copy one{part.place(offset, what.source_pitch),
                       what.source_pitch,
                       part.place(to.address, what.target_pitch),
                       to.tag,
                       what.target_pitch,
                       part.row_bytes,
                       part.rows};
    copies.push_back(async(messages_to(at, to_node, how), copying_out_of_arena, one));
  };
  try {
    for_each_part(what, max_arena_bytes, begin_part);
  } catch (...) {  // those that have begun still read this memory
    for (const future<void>& one : copies) one.wait();
    throw;
  }
  await_copies(copies);
  return true;
}

bool copy_from_peer_device(engine& at, node_t from_node, raw_buffer from, raw_buffer to, const block_rows& what,
                           element of, transfer_terms how) {
  device_heap& device = *at.memory.device();
  std::uint64_t extent = 0;
  if (device.arenas().own().size == 0 || device.arenas().refuses(from_node) ||
      !extent_of_rows(what.rows, what.row_bytes, what.source_pitch, extent))
    return false;
  const engine_scope scope(&at);
  if (!may_be_copied(at, from_node, from, of, how)) return false;
  const far_place found = answer_or(
      [&] {
        return async(messages_to(at, from_node, how), fn<&place_in_arena_here>, from.address, from.tag, extent).get();
      },
      far_place{});
  if (ask_for(device, *at.peer_of(from_node), handle_of(found.arena)) != peer_arenas::state::open) return false;
  const std::shared_ptr<transport::peer_arena> arena = device.arenas().find(from_node);
  if (arena == nullptr) return false;
  if (!is_within(found.offset, extent, arena->bytes()))
    throw protocol_error("node " + std::to_string(from_node) + " has named memory outside of that of its device");
  at.memory.count_got(what.rows * what.row_bytes);
  for_each_part(what, max_arena_bytes, [&](const copied_part& part) {
    device.copy_from_peer_now({part.place(arena->address() + found.offset, what.source_pitch),
                               part.place(to.address, what.target_pitch), part.row_bytes, part.rows, what.source_pitch,
                               what.target_pitch});
  });
  return true;
}

std::uint8_t open_arena_here(const far_arena&) { return static_cast<std::uint8_t>(arena_use::refused); }
void copy_out_of_arena_here(const far_copy&) { throw buffer_error("this node has no memory of a device"); }

far_place place_in_arena_here(std::uint64_t address, std::uint64_t tag, std::uint64_t bytes) {
  engine& at = current();
  check_local(at, {address, tag}, bytes);
  device_heap* const device = at.memory.device();
  if (device == nullptr || !at.memory.one_sided()) return {};
  device->await_started();
  return {named(device->arenas().own()), address - device->allocations().address()};
}

bool open_arena_of_caller(incoming_call& call) {
  const auto [of] = ham::detail::arguments_of<far_arena>(call);
  call.decoded = true;
  engine& at = *call.at;
  arena_use answer = arena_use::refused;
  if (at.memory.one_sided() && of_this_machine(at, *call.from)) {
    switch (ask_for(*at.memory.device(), *call.from, handle_of(of))) {
      case peer_arenas::state::wanted: answer = arena_use::unknown; break;
      case peer_arenas::state::open: answer = arena_use::open; break;
      case peer_arenas::state::refused: break;
    }
  }
  ham::detail::reply_value(call, static_cast<std::uint8_t>(answer));
  return true;
}

bool copy_out_of_arena_later(incoming_call& call) {
  const auto [what] = ham::detail::arguments_of<far_copy>(call);
  call.decoded = true;
  engine& at = *call.at;
  std::shared_ptr<transport::peer_arena> arena = at.memory.device()->arenas().find(call.from->node);
  if (arena == nullptr) refuse_arena(at, call.from->node);
  std::uint64_t source = 0;
  std::uint64_t target = 0;
  const raw_buffer there{what.to, what.tag};
  if (!extent_of_rows(what.rows, what.row_bytes, what.from_pitch, source) ||
      !extent_of_rows(what.rows, what.row_bytes, what.to_pitch, target))
    refuse("rows that overlap", at.self(), there, what.row_bytes);
  if (!is_within(what.offset, source, arena->bytes()))
    refuse("outside of the memory of the caller's device", at.self(), there, source);
  if (what.tag == 0) refuse("it is no memory of offload::allocate", at.self(), there, target);
  check_local(at, there, target);
  ham::detail::copy_peer_later(
      call, arena,
      {arena->address() + what.offset, what.to, what.row_bytes, what.rows, what.from_pitch, what.to_pitch});
  return true;
}

}  // namespace ham::offload::detail
