// The resident kernel: each block takes calls from its queue, executes them and replies, without a launch per call.
// Internal.
//
// Compiled by nvcc or hipcc it is the body of a kernel; compiled by the host's compiler, threads run it (emulated
// devices). A Unit is one thread of a device:
//   block(), blocks()         the number of its block, and how many there are
//   leads_block()             whether it is the thread of its block that talks with the host
//   in_first_warp()
//   sync_block()              waits for all threads of the block, and sees what they have written
//   enter(parameters)         the state of its block, which the leading thread has from its last residency
//   leave(parameters, state)  of the leading thread: keeps it for the next one
//   row(parameters, number)   of the table
//   link()                    the way to memory of the host (mailbox.hpp), for the leading thread; functions that send
//                             messages have another one
//   polls()                   whether it is one of the threads of its block that read what is in the queue, of which
//                             the leading one is the first
//   poll(queue, state)        reads the headers of all calls in the queue, with one access; of those threads together
//   agree(found)              what the leading thread says, to all of them
//   now(), max_age()          the time, in units of its own; how long what it has read is taken for true, and replies
//                             may be kept, about
//   idle(), worked()          nothing was there; something was
//   asks_for_stop()           whether it is time to look if the host wants a chain to stop, which takes an access over
//                             the link; of the leading thread
//   begin(row, stop, stamp, kept)  rank(), size(), sync() and stop_requested() are those of this call from now on; what
//                             waits for the host, or asks it, writes the replies that are kept before
//   run(row, execution)       calls its body; what an emulated one throws becomes a status
#pragma once

#include <cstddef>
#include <cstdint>

#include "ham/device/function.hpp"
#include "ham/device/mailbox.hpp"

namespace ham::inline v1::device::detail {

inline constexpr std::uint32_t short_function_count = 16;

/// What one block knows. In memory of the device, which is zero at first, or in memory that a block shares, which is
/// not; `position` and `sent` stay from one residency to the next.
struct alignas(line_bytes) block_state {
  enum class command : std::uint32_t { run, leave };

  alignas(max_alignment) std::byte arguments[max_arguments];
  alignas(max_alignment) std::byte step_arguments[max_arguments];  ///< of a call of a chain; `arguments` has all calls
  alignas(max_alignment) std::byte result[max_result];
  word_pair seen[queue_slots];                          ///< headers of calls in its queue, as the block has read them
  std::int64_t seen_at;                                 ///< when that was
  bool is_new;                                          ///< the next call is taken however long that was ago
  kept_replies kept;                                    ///< while the next call is a short one
  std::uint32_t short_functions[short_function_count];  ///< number and 1 of those that have not taken long last time
  std::uint64_t position;                               ///< of the next call of its queue
  outbox_state sent;                                    ///< its messages
  // The chain that is executed; zero while there is none.
  std::uint64_t step;       ///< which of its calls
  std::uint64_t step_at;    ///< where the next one begins
  std::uint64_t steps_end;  ///< where the last one ends
  std::uint64_t result_at;  ///< where the result of this one goes
  // The call that is executed, written by the leading thread for the others of the block.
  const std::byte* from;
  std::uint64_t size;
  std::uint32_t function;
  command what;
  std::uint64_t failed;  ///< a call_status, of any thread that has one; 0: none

  [[nodiscard]] HAM_DEVICE std::uint32_t& short_place_of(std::uint32_t number) noexcept {
    return short_functions[number % short_function_count];
  }
};

struct loop_parameters {
  call_queue* queues;      ///< one per block, memory of the host
  block_state* blocks;     ///< one per block
  const table_row* table;  ///< memory of the device
  std::uint32_t functions;
  outbox* messages = nullptr;  ///< one per block, memory of the host; nullptr: calls of `Unit` know it
};

/// What the calling thread does of the call of its block.
template <class Unit>
[[nodiscard]] HAM_DEVICE call_status run_part(const loop_parameters& with, Unit& unit, block_state& own) {
  const table_row& row = unit.row(with, own.function);
  const std::uint64_t stamp = own.position + 1;
  unit.begin(row, with.queues[unit.block()].stops[own.position % queue_slots], stamp, own.kept);
  execution call{own.from, static_cast<std::size_t>(own.size), own.result + own.result_at, call_status::done};
  unit.run(row, call);
  return call.status;
}

/// The part of one thread in a call that several execute together.
template <class Unit>
HAM_DEVICE void run_common_part(const loop_parameters& with, Unit& unit, block_state& own) {
  if (unit.row(with, own.function).runs_on == scope::warp && !unit.in_first_warp()) return;
  const call_status status = run_part(with, unit, own);
  if (status != call_status::done) release(own.failed, static_cast<std::uint64_t>(status));
}

/// What is wrong with a call, before anything of it is executed.
template <class Unit>
[[nodiscard]] HAM_DEVICE call_status check_call(const loop_parameters& with, Unit& unit,
                                                const call_head& head) noexcept {
  if (head.cancelled) return call_status::stopped;
  if (head.function >= with.functions) return call_status::no_function;
  const table_row& row = unit.row(with, head.function);
  if (row.body == nullptr) return call_status::no_function;
  if (head.elsewhere == 0 && head.size > max_arguments) return call_status::wrong_size;
  if (row.varies ? head.size < row.min_size : head.size != row.min_size) return call_status::wrong_size;
  return call_status::done;
}

/// The leading thread: has the block know a call whose head it has. Else the status is what is wrong with it.
template <class Unit>
[[nodiscard]] HAM_DEVICE call_status begin_call(const loop_parameters& with, Unit& unit, block_state& own,
                                                const call_head& head) {
  const call_status status = check_call(with, unit, head);
  if (status != call_status::done) return status;
  own.from = head.elsewhere == 0 ? own.arguments : reinterpret_cast<const std::byte*>(head.elsewhere);
  own.size = head.size;
  own.function = head.function;
  own.failed = 0;
  return status;
}

/// The leading thread: gives a call of a chain what earlier ones have given. False: there is no such thing.
[[nodiscard]] HAM_DEVICE inline bool copy_result(block_state& own, const chain_copy& what,
                                                 std::uint64_t size) noexcept {
  if (what.from + what.size > own.result_at || what.to + what.size > size) return false;
  const std::byte* const from = own.result + what.from;
  std::byte* const to = own.step_arguments + what.to;
  constexpr std::uint64_t word = sizeof word;
  std::uint64_t done = 0;
  if ((what.from | what.to) % word == 0) {
    for (; done + word <= what.size; done += word)
      *reinterpret_cast<std::uint64_t*>(to + done) = *reinterpret_cast<const std::uint64_t*>(from + done);
  }
  for (; done < what.size; ++done) to[done] = from[done];
  return true;
}

/// The leading thread: as begin_call(), for the next call of a chain.
template <class Unit>
[[nodiscard]] HAM_DEVICE call_status begin_step(const loop_parameters& with, Unit& unit, block_state& own) {
  if (own.step != 0) {
    call_queue& queue = with.queues[unit.block()];
    const std::uint64_t& stop = queue.stops[own.position % queue_slots];
    if (unit.asks_for_stop() && unit.link().read_word(stop) == own.position + 1) return call_status::stopped;
    unit.link().note_word(queue.step, step_word(own.position, own.step));
  }
  const auto* const words = reinterpret_cast<const std::uint64_t*>(own.arguments + own.step_at);
  const std::uint64_t left = (own.steps_end - own.step_at) / sizeof *words;
  const chain_step what = chain_step::of(words[0]);
  if (what.words() >= left) return call_status::wrong_size;
  const call_status status = begin_call(with, unit, own, {what.function, false, what.size, 0});
  if (status != call_status::done) return status;
  const table_row& row = unit.row(with, what.function);
  if (row.runs_on == scope::grid || own.result_at + row.result_size > max_result) return call_status::wrong_size;
  auto* const to = reinterpret_cast<std::uint64_t*>(own.step_arguments);
  std::uint64_t at = 1;
  for (; at <= what.argument_words(); ++at) to[at - 1] = words[at];
  std::uint64_t given = what.has_arguments ? what.size : 0;  // so many bytes: what is behind is of an earlier call
  for (; at <= what.words(); ++at) {
    const chain_copy copy = chain_copy::of(words[at]);
    if (copy.to > given || !copy_result(own, copy, what.size)) return call_status::wrong_size;
    if (copy.to + copy.size > given) given = copy.to + copy.size;
  }
  if (given != what.size) return call_status::wrong_size;
  own.from = own.step_arguments;
  own.step_at += at * sizeof *words;
  return status;
}

/// The leading thread: as begin_call(), for a chain.
template <class Unit>
[[nodiscard]] HAM_DEVICE call_status begin_chain(const loop_parameters& with, Unit& unit, block_state& own,
                                                 const call_head& head) {
  if (head.cancelled) return call_status::stopped;
  if (head.elsewhere != 0 || head.size > max_arguments) return call_status::wrong_size;
  own.steps_end = head.size / sizeof(std::uint64_t) * sizeof(std::uint64_t);
  return own.steps_end == 0 ? call_status::wrong_size : begin_step(with, unit, own);
}

/// Whether less than max_age() has passed since then. A clock may be behind that of another processor, on which the
/// block was before: that says no.
template <class Unit>
[[nodiscard]] HAM_DEVICE bool is_recent(const Unit& unit, std::int64_t since) noexcept {
  return static_cast<std::uint64_t>(unit.now() - since) < static_cast<std::uint64_t>(unit.max_age());
}

/// The leading thread: whether it knows the header of the next call. Calls that are behind others are not taken long
/// after they were read: the host may have cancelled them.
template <class Unit>
[[nodiscard]] HAM_DEVICE bool sees_call(const Unit& unit, const block_state& own) noexcept {
  return is_call_at(own.seen[own.position % queue_slots].first, own.position) &&
         (own.is_new || is_recent(unit, own.seen_at));
}

/// The leading thread: whether replies may be written behind the next call. It is about to take it, and that call was
/// short when it was executed last. Of a call of several threads, a chain, or what is executed for the first time
/// nobody knows whether it waits for what the host does when it has the replies.
template <class Unit>
[[nodiscard]] HAM_DEVICE bool keeps_replies(const Unit& unit, block_state& own) noexcept {
  if (own.kept.count == kept_replies::most || !sees_call(unit, own)) return false;
  const std::uint32_t number = function_of(own.seen[own.position % queue_slots].first);
  return own.short_place_of(number) == number + 1;
}

/// The leading thread: replies to a call, or to a chain; if that has failed, with the number of the call that has.
template <class Unit>
HAM_DEVICE void end_all(const loop_parameters& with, Unit& unit, block_state& own, call_status status,
                        std::uint32_t size) {
  call_queue& queue = with.queues[unit.block()];
  const bool tells_step = status != call_status::done && own.steps_end != 0;
  if (tells_step) size = sizeof own.step;
  const std::byte* const result =
      tells_step ? reinterpret_cast<const std::byte*>(&own.step) : own.result + own.result_at;
  const std::uint64_t position = own.position++;
  if (size <= sizeof(std::uint64_t)) {
    keep_reply(own.kept, position, status, result, size);
    own.is_new = keeps_replies(unit, own);
    if (!own.is_new) send_kept(unit.link(), queue, own.kept);
  } else {
    send_kept(unit.link(), queue, own.kept);
    send_long_reply(unit.link(), queue, position, status, result, size);
  }
  own.step = own.step_at = own.steps_end = own.result_at = 0;
}

/// The leading thread: replies to the call that the block has executed, unless a chain goes on behind it.
template <class Unit>
HAM_DEVICE void end_call(const loop_parameters& with, Unit& unit, block_state& own, call_status status) {
  const table_row& row = unit.row(with, own.function);
  const bool has_rank_0 = row.runs_on != scope::grid || unit.block() == 0;
  const std::uint32_t size = status == call_status::done && has_rank_0 ? row.result_size : 0;
  if (status != call_status::done || own.step_at == own.steps_end) {
    end_all(with, unit, own, status, size);
    return;
  }
  ++own.step;
  own.result_at = aligned(own.result_at + size, max_alignment);
}

/// The leading thread: executes a call of one thread, and finds out whether that is short.
template <class Unit>
HAM_DEVICE void run_alone(const loop_parameters& with, Unit& unit, block_state& own) {
  if (own.kept.count != 0) unit.link().note_word(with.queues[unit.block()].step, step_word(own.position, 0));
  const std::uint32_t number = own.function;
  const auto begin = unit.now();
  const call_status status = run_part(with, unit, own);
  own.short_place_of(number) = is_recent(unit, begin) ? number + 1 : 0;
  end_call(with, unit, own, status);
}

/// The leading thread: executes calls that it sees, as long as they are for one thread: the others of the block need
/// not know. False: it sees no more. True: the block executes the next one together, or is to leave for it.
template <class Unit>
[[nodiscard]] HAM_DEVICE bool find_common_call(const loop_parameters& with, Unit& unit, block_state& own) {
  call_queue& queue = with.queues[unit.block()];
  for (;;) {
    call_status status = call_status::done;
    if (own.step_at != own.steps_end) {
      status = begin_step(with, unit, own);
    } else {
      if (!sees_call(unit, own)) return false;
      const call_head head =
          take_call(unit.link(), queue, own.position, own.seen[own.position % queue_slots], own.arguments);
      own.is_new = false;
      unit.worked();
      own.what = head.function == leave_function ? block_state::command::leave : block_state::command::run;
      if (own.what == block_state::command::leave) return true;
      status = head.function == chain_function ? begin_chain(with, unit, own, head) : begin_call(with, unit, own, head);
    }
    if (status != call_status::done) {
      end_all(with, unit, own, status, 0);
      continue;
    }
    if (unit.row(with, own.function).runs_on != scope::thread) return true;
    run_alone(with, unit, own);
  }
}

/// The threads that poll: until find_common_call() has found one.
template <class Unit>
HAM_DEVICE void await_common_call(const loop_parameters& with, Unit& unit, block_state& own) {
  while (!unit.agree(unit.leads_block() && find_common_call(with, unit, own))) {
    unit.poll(with.queues[unit.block()], own);
    if (!unit.leads_block()) continue;
    own.seen_at = unit.now();
    own.is_new = true;
    if (!sees_call(unit, own)) unit.idle();
  }
}

/// One thread of the resident kernel, from its launch until its block is asked to leave. All threads of a block call
/// functions from the same place, so that those of a warp execute them in step.
template <class Unit>
HAM_DEVICE void resident_loop(const loop_parameters& with, Unit& unit) {
  block_state& own = unit.enter(with);
  if (unit.leads_block()) {
    own.step = own.step_at = own.steps_end = own.result_at = 0;
    own.kept.count = 0;
    for (std::uint32_t& one : own.short_functions) one = 0;
    for (word_pair& one : own.seen) one.first = stamp_of(own.position - 1);  // of no call that is to come
  }
  for (;;) {
    if (unit.polls()) await_common_call(with, unit, own);
    unit.sync_block();
    if (own.what == block_state::command::leave) break;
    run_common_part(with, unit, own);
    unit.sync_block();
    if (!unit.leads_block()) continue;
    const std::uint64_t failed = acquire(own.failed);
    end_call(with, unit, own, failed == 0 ? call_status::done : static_cast<call_status>(failed));
  }
  if (unit.leads_block()) {
    keep_reply(own.kept, own.position++, call_status::done, own.result, 0);
    send_kept(unit.link(), with.queues[unit.block()], own.kept);
    unit.leave(with, own);
  }
}

}  // namespace ham::device::detail
