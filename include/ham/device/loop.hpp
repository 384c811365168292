// The resident kernel: each block takes calls from its queue, executes them and replies, without a launch per call.
// Internal.
//
// Compiled by nvcc or hipcc it is the body of a kernel; compiled by the host's compiler, threads run it (emulated
// devices). A Unit is one thread of a device:
//   block(), blocks()         the number of its block, and how many there are
//   leads_block()             whether it is the thread of its block that talks with the host
//   in_first_warp()
//   sync_block()              waits for all threads of the block, and sees what they have written
//   link()                    the way to memory of the host (mailbox.hpp); of the leading thread
//   idle(), worked()          nothing was there; something was
//   begin(row, stop, stamp)   rank(), size(), sync() and stop_requested() are those of this call from now on
//   run(row, execution)       calls its body; what an emulated one throws becomes a status
#pragma once

#include <cstddef>
#include <cstdint>

#include "ham/device/function.hpp"
#include "ham/device/mailbox.hpp"

namespace ham::inline v1::device::detail {

/// What one block keeps between and during calls, in memory of the device. Zero at first; `position` stays from one
/// residency to the next.
struct alignas(line_bytes) block_state {
  enum class command : std::uint32_t { run, leave };

  alignas(max_alignment) std::byte arguments[max_arguments];
  alignas(max_alignment) std::byte result[max_result];
  std::uint64_t position;  ///< of the next call of its queue
  // The call that is executed, written by the leading thread for the others of the block.
  const std::byte* from;
  std::uint64_t size;
  std::uint32_t function;
  command what;
  std::uint64_t failed;  ///< a call_status, of any thread that has one; 0: none
};

struct loop_parameters {
  call_queue* queues;      ///< one per block, memory of the host
  block_state* blocks;     ///< one per block
  const table_row* table;  ///< memory of the device
  std::uint32_t functions;
  outbox* messages = nullptr;    ///< memory of the host; nullptr: calls of `Unit` know it
  outbox_state* sent = nullptr;  ///< memory of the device
};

/// The part of one thread in the call of its block.
template <class Unit>
HAM_DEVICE void run_part(const loop_parameters& with, Unit& unit, block_state& own) {
  const table_row& row = with.table[own.function];
  if (row.runs_on == scope::thread && !unit.leads_block()) return;
  if (row.runs_on == scope::warp && !unit.in_first_warp()) return;
  const std::uint64_t stamp = own.position + 1;
  unit.begin(row, with.queues[unit.block()].stops[own.position % queue_slots], stamp);
  execution call{own.from, static_cast<std::size_t>(own.size), own.result, call_status::done};
  unit.run(row, call);
  if (call.status != call_status::done) release(own.failed, static_cast<std::uint64_t>(call.status));
}

/// What is wrong with a call, before anything of it is executed.
[[nodiscard]] HAM_DEVICE inline call_status check_call(const loop_parameters& with, const call_head& head) noexcept {
  if ((head.function & cancelled_function) != 0) return call_status::stopped;
  if (head.function >= with.functions) return call_status::no_function;
  const table_row& row = with.table[head.function];
  if (row.body == nullptr) return call_status::no_function;
  if (head.elsewhere == 0 && head.size > max_arguments) return call_status::wrong_size;
  if (row.varies ? head.size < row.min_size : head.size != row.min_size) return call_status::wrong_size;
  return call_status::done;
}

/// Executes one call of which the leading thread has the head, and replies.
template <class Unit>
HAM_DEVICE void execute_call(const loop_parameters& with, Unit& unit, block_state& own, const call_head& head) {
  call_status status = check_call(with, head);
  std::uint32_t result_size = 0;
  if (status == call_status::done) {
    const table_row& row = with.table[head.function];
    own.from = head.elsewhere == 0 ? own.arguments : reinterpret_cast<const std::byte*>(head.elsewhere);
    own.size = head.size;
    own.function = head.function;
    own.failed = 0;
    unit.link().note_word(with.queues[unit.block()].executing, own.position + 1);
    if (row.runs_on == scope::thread) {  // the others of the block need not know
      run_part(with, unit, own);
    } else {
      own.what = block_state::command::run;
      unit.sync_block();
      run_part(with, unit, own);
      unit.sync_block();
    }
    const std::uint64_t failed = acquire(own.failed);
    if (failed != 0) status = static_cast<call_status>(failed);
    const bool has_rank_0 = row.runs_on != scope::grid || unit.block() == 0;
    if (status == call_status::done && has_rank_0) result_size = row.result_size;
  }
  send_reply(unit.link(), with.queues[unit.block()], own.position, status, own.result, result_size);
}

/// The thread that leads a block.
template <class Unit>
HAM_DEVICE void lead_block(const loop_parameters& with, Unit& unit, block_state& own) {
  call_queue& queue = with.queues[unit.block()];
  for (;;) {
    call_head head;
    if (!take_call(unit.link(), queue, own.position, head, own.arguments)) {
      unit.idle();
      continue;
    }
    unit.worked();
    const bool leaves = head.function == leave_function;
    if (leaves) {
      own.what = block_state::command::leave;
      unit.sync_block();
      send_reply(unit.link(), queue, own.position, call_status::done, own.result, 0);
    } else {
      execute_call(with, unit, own, head);
    }
    ++own.position;
    if (leaves) return;
  }
}

/// One thread of the resident kernel, from its launch until its block is asked to leave.
template <class Unit>
HAM_DEVICE void resident_loop(const loop_parameters& with, Unit& unit) {
  block_state& own = with.blocks[unit.block()];
  if (unit.leads_block()) {
    lead_block(with, unit, own);
    return;
  }
  for (;;) {
    unit.sync_block();
    if (own.what == block_state::command::leave) return;
    run_part(with, unit, own);
    unit.sync_block();
  }
}

}  // namespace ham::device::detail
