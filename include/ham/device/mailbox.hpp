// What the host and a device share: for each block of the resident kernel a queue of calls and their replies. Internal.
//
// The one-sided ring of paper 1, Fig. 8, with the device as the active side: all of it lies in memory of the host, the
// device reads calls and writes replies over the link, the host never reaches over it. A call and its reply have the
// same position, so that replies need no credit: a slot is free when the reply to its last call has been taken.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ham/device/words.hpp"

namespace ham::inline v1::device {

/// What became of a call on the device.
enum class call_status : std::uint32_t {
  done = 1,
  no_function,  ///< the device has no function of that number, or no version of it
  wrong_size,   ///< the arguments are not those of the function
  threw,        ///< an exception has left the function (emulated devices only)
  stopped,      ///< the host has cancelled the call before it began: nothing of it was executed
};

namespace detail {

/// Changes when anything changes that the kernel and the library share: this, outbox.hpp, loop_parameters, block_state
/// (loop.hpp) or table_row (function.hpp). The kernel, which the application brings along, and the library may have
/// been built at different times. driver_interface (driver_module.hpp) changes with it.
inline constexpr std::uint32_t queue_layout = 4;

inline constexpr std::size_t line_bytes = 64;
inline constexpr std::size_t slot_bytes = 1024;
inline constexpr std::uint64_t queue_slots = 16;

// The first word of a call says all of it: from the top 24 bits of its stamp, 12 of the size of its arguments in bytes,
// one that cancels it, 27 of the number of its function in the device's table. So the device sees with one access
// whether there is a call, and what it is.
inline constexpr unsigned function_bits = 27;
inline constexpr unsigned size_shift = 28;
inline constexpr unsigned stamp_shift = 40;
/// A call of this number asks the block to leave the resident kernel. Greater ones do not exist.
inline constexpr std::uint32_t leave_function = (std::uint32_t{1} << function_bits) - 1;
/// A call of this number is a chain: its arguments are calls, which the block executes one after the other and answers
/// with one reply (chain_step).
inline constexpr std::uint32_t chain_function = leave_function - 1;
/// Set in a call that was sent: the device does not execute it, if it has not read it before. Only one block decides;
/// so calls that several blocks execute together have none.
inline constexpr std::uint64_t cancelled_call = std::uint64_t{1} << function_bits;
/// As a size: address and size of the arguments stand in their place.
inline constexpr std::uint64_t elsewhere_size = 0xfff;

/// The header of a call: its first word, and the first 8 bytes of its arguments. Written by the host, the first word
/// last.
struct alignas(2 * sizeof(std::uint64_t)) call_header {
  std::uint64_t what;
  std::uint64_t first_argument;
};
/// The arguments of one call. Written by the host before its first word.
struct alignas(line_bytes) call_slot {
  std::byte arguments[slot_bytes];
};
/// What is in it, for the device.
struct call_head {
  std::uint32_t function;
  bool cancelled;
  std::uint64_t size;       ///< of the arguments, in bytes
  std::uint64_t elsewhere;  ///< where they are in the device's memory; 0: here
};

/// A call of a chain, as the word says that begins it: as the first word of a call, but for the number of copies in
/// place of the stamp. Behind it stand its arguments in whole words, unless copies give all of them; then the copies,
/// in the order of what they give.
struct chain_step {
  std::uint32_t function;
  bool has_arguments;
  std::uint64_t size;  ///< of the arguments, in bytes
  std::uint64_t copies;

  [[nodiscard]] HAM_DEVICE static constexpr chain_step of(std::uint64_t word) noexcept {
    return {static_cast<std::uint32_t>(word) & leave_function, (word & cancelled_call) != 0,
            word >> size_shift & elsewhere_size, word >> stamp_shift};
  }
  [[nodiscard]] constexpr std::uint64_t word() const noexcept {
    return function | (has_arguments ? cancelled_call : 0) | size << size_shift | copies << stamp_shift;
  }
  /// Of its arguments, and with the copies, in words.
  [[nodiscard]] HAM_DEVICE constexpr std::uint64_t argument_words() const noexcept {
    return has_arguments ? (size + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t) : 0;
  }
  [[nodiscard]] HAM_DEVICE constexpr std::uint64_t words() const noexcept { return argument_words() + copies; }
};
/// Some bytes of what earlier calls of a chain have given, which are arguments of a later one, from `to` on. Results
/// lie one behind the other, each at a multiple of max_alignment bytes (arguments.hpp).
struct chain_copy {
  std::uint64_t from;
  std::uint64_t to;
  std::uint64_t size;

  [[nodiscard]] HAM_DEVICE static constexpr chain_copy of(std::uint64_t word) noexcept {
    return {word & 0xffff, word >> 16U & 0xffff, word >> 32U};
  }
  [[nodiscard]] constexpr std::uint64_t word() const noexcept { return from | to << 16U | size << 32U; }
};

/// Of the call at `position` in the first word; no other call has it that was in this slot within 2^24 calls, nor has a
/// slot that was never used.
[[nodiscard]] HAM_DEVICE constexpr std::uint64_t stamp_of(std::uint64_t position) noexcept {
  return (position + 1) << stamp_shift;
}
[[nodiscard]] HAM_DEVICE constexpr bool is_call_at(std::uint64_t what, std::uint64_t position) noexcept {
  return (what ^ stamp_of(position)) >> stamp_shift == 0;
}

/// What the device notes of the call at `position`, which is seldom: so all of the position is in it. `step`: which
/// call of a chain; else 0.
inline constexpr unsigned step_bits = 16;
[[nodiscard]] HAM_DEVICE constexpr std::uint64_t step_word(std::uint64_t position, std::uint64_t step) noexcept {
  return (position + 1) << step_bits | step;
}
/// The stamp of that call.
[[nodiscard]] constexpr std::uint64_t stamp_in(std::uint64_t word) noexcept { return word >> step_bits << stamp_shift; }

/// Its reply. The first word says all of it but the result: stamp and size as of a call, and the call_status. Written
/// by the device; the first word last, or together with the first 8 bytes of the result.
struct alignas(line_bytes) reply_slot {
  std::uint64_t what;
  std::byte result[1000];
  std::uint64_t arrival_ns;  ///< over an emulated link, when the host may see it; else 0
  std::byte unused[slot_bytes - 1016];
};
[[nodiscard]] inline call_status status_of(const reply_slot& reply) noexcept {
  return static_cast<call_status>(reply.what & leave_function);
}
/// Of the result, in bytes.
[[nodiscard]] inline std::size_t size_of(const reply_slot& reply) noexcept {
  return reply.what >> size_shift & elsewhere_size;
}

static_assert(sizeof(call_slot) == slot_bytes && sizeof(reply_slot) == slot_bytes);
static_assert(offsetof(reply_slot, result) == 8);

inline constexpr std::size_t max_arguments = 1000;  ///< in a slot
inline constexpr std::size_t max_result = sizeof(reply_slot::result);
static_assert(max_arguments <= sizeof(call_slot::arguments) && max_arguments < elsewhere_size);

/// The queue of one block. Zero at first.
struct alignas(line_bytes) call_queue {
  call_header headers[queue_slots];  ///< side by side: the device reads all of them with one access
  call_slot calls[queue_slots];
  reply_slot replies[queue_slots];
  std::uint64_t stops[queue_slots];  ///< written by the host: stamps of calls that are to stop
  std::uint64_t step;                ///< written by the device: step_word() of the chain that it executes, or of a call
                                     ///< that has begun before the reply to the one before it is written
  std::uint64_t trapped;             ///< written by the device: the stamp of a call that has called trap()
  char trap_reason[128];             ///< before that

  [[nodiscard]] HAM_DEVICE call_header& header_at(std::uint64_t position) noexcept {
    return headers[position % queue_slots];
  }
  [[nodiscard]] HAM_DEVICE call_slot& call_at(std::uint64_t position) noexcept { return calls[position % queue_slots]; }
  [[nodiscard]] HAM_DEVICE reply_slot& reply_at(std::uint64_t position) noexcept {
    return replies[position % queue_slots];
  }
};

/// How the device reaches memory of the host:
///   read_pair(words)            two words side by side, ordered before what follows
///   read_word(from)             the same of one word
///   read_block(from, to, size)  `to` is aligned to 8 bytes, and has room for whole words
///   write_block(to, from, size)
///   write_word(to, value)       ordered behind what was written before
///   note_word(to, value)        in no order with anything else
///   write_pair(to, words)       two words side by side at once, ordered behind writes to memory of the device
///   order_pairs(), store_pair(to, words)  the same in two steps, of which the first is enough for several pairs
///   arrival_ns()                when the host may see what is written now, over an emulated link; else 0
/// All of it is of the calling thread: the one that leads its block, or any that sends a message (outbox.hpp).

/// What of a call's first word says which function it calls.
[[nodiscard]] HAM_DEVICE constexpr std::uint32_t function_of(std::uint64_t what) noexcept {
  return static_cast<std::uint32_t>(what) & leave_function;
}

/// The device's side: what is in the call at `position`, of which the device has the header. `to` gets its arguments,
/// unless they are elsewhere, or more than a slot has.
template <class Link>
[[nodiscard]] HAM_DEVICE call_head take_call(Link&& link, call_queue& queue, std::uint64_t position,
                                             const word_pair& words, std::byte* to) noexcept {
  call_head head;
  head.function = function_of(words.first);
  head.cancelled = (words.first & cancelled_call) != 0;
  head.size = words.first >> size_shift & elsewhere_size;
  head.elsewhere = 0;
  const std::byte* const arguments = queue.call_at(position).arguments;
  constexpr std::size_t word = sizeof words.second;
  if (head.size == elsewhere_size) {
    head.elsewhere = words.second;
    head.size = link.read_word(*reinterpret_cast<const std::uint64_t*>(arguments + word));
  } else if (head.size != 0 && head.size <= max_arguments) {
    *reinterpret_cast<std::uint64_t*>(to) = words.second;
    if (head.size > word) link.read_block(arguments + word, to + word, head.size - word);
  }
  return head;
}

[[nodiscard]] HAM_DEVICE inline std::uint64_t reply_word(std::uint64_t position, call_status status,
                                                         std::uint32_t size) noexcept {
  return stamp_of(position) | std::uint64_t{size} << size_shift | static_cast<std::uint64_t>(status);
}
/// Replies that a block has not written: of the calls at `first` and behind it. Results of more than 8 bytes are not
/// among them.
struct kept_replies {
  static constexpr std::uint32_t most = 8;
  word_pair words[most];
  std::uint64_t first;
  std::uint32_t count;
};
/// The device's side: keeps the reply to the call behind those whose replies are kept, of which there are less than the
/// most. `result` is aligned to 8 bytes, and may be read in whole words.
HAM_DEVICE inline void keep_reply(kept_replies& kept, std::uint64_t position, call_status status,
                                  const std::byte* result, std::uint32_t size) noexcept {
  if (kept.count == 0) kept.first = position;
  kept.words[kept.count++] = {reply_word(position, status, size),
                              size == 0 ? 0 : *reinterpret_cast<const std::uint64_t*>(result)};
}
template <class Link>
HAM_DEVICE void note_arrival(Link&& link, reply_slot& slot) noexcept {
  if (const std::int64_t at_ns = link.arrival_ns(); at_ns != 0)
    release(slot.arrival_ns, static_cast<std::uint64_t>(at_ns));
}
/// The device's side: writes the replies that are kept, behind one fence.
template <class Link>
HAM_DEVICE void send_kept(Link&& link, call_queue& queue, kept_replies& kept) noexcept {
  if (kept.count == 0) return;
  link.order_pairs();
  for (std::uint32_t at = 0; at < kept.count; ++at) {
    reply_slot& slot = queue.reply_at(kept.first + at);
    note_arrival(link, slot);
    link.store_pair(&slot.what, kept.words[at]);
  }
  kept.count = 0;
}
/// The device's side: answers the call at `position` with a result that is longer. `result` as of keep_reply().
template <class Link>
HAM_DEVICE void send_long_reply(Link&& link, call_queue& queue, std::uint64_t position, call_status status,
                                const std::byte* result, std::uint32_t size) noexcept {
  reply_slot& slot = queue.reply_at(position);
  const std::uint64_t what = reply_word(position, status, size);
  note_arrival(link, slot);
  link.write_block(slot.result, result, size);
  link.write_word(slot.what, what);
}

/// The host's side: room for the arguments of the call at `position`, whose slot is free.
[[nodiscard]] inline std::byte* call_room(call_queue& queue, std::uint64_t position) noexcept {
  return queue.call_at(position).arguments;
}
/// Sends it. `elsewhere`: where its arguments are; 0: there.
inline void send_call(call_queue& queue, std::uint64_t position, std::uint32_t function, std::uint64_t size,
                      std::uint64_t elsewhere) noexcept {
  std::byte* const arguments = call_room(queue, position);
  if (elsewhere != 0) {
    const std::uint64_t words[] = {elsewhere, size};
    for (std::size_t at = 0; at < sizeof words; ++at) arguments[at] = reinterpret_cast<const std::byte*>(words)[at];
    size = elsewhere_size;
  }
  call_header& header = queue.header_at(position);
  header.first_argument = *reinterpret_cast<const std::uint64_t*>(arguments);
  release(header.what, stamp_of(position) | size << size_shift | (function & leave_function));
}
/// Whether a slot of a queue holds a call that the device has not answered.
[[nodiscard]] inline bool is_unanswered(const call_queue& queue, std::uint64_t slot) noexcept {
  const std::uint64_t what = acquire(queue.headers[slot].what);
  return what != 0 && (what ^ acquire(queue.replies[slot].what)) >> stamp_shift != 0;
}
/// Its reply, or nullptr if that has not arrived by `now_ns`. Valid until the slot is used again.
[[nodiscard]] inline const reply_slot* find_reply(call_queue& queue, std::uint64_t position,
                                                  std::int64_t now_ns) noexcept {
  const reply_slot& slot = queue.reply_at(position);
  return is_call_at(acquire(slot.what), position) && static_cast<std::int64_t>(acquire(slot.arrival_ns)) <= now_ns
             ? &slot
             : nullptr;
}
/// Cancels it: the device answers call_status::stopped, unless it has read the number already, and executes the call as
/// if nothing had been. The reply tells which.
inline void cancel_call(call_queue& queue, std::uint64_t position) noexcept {
  __atomic_fetch_or(&queue.header_at(position).what, cancelled_call, __ATOMIC_RELAXED);
}
/// Whether the device has noted that it has begun the call at `position`, while the reply to an earlier one is kept.
[[nodiscard]] inline bool has_begun(const call_queue& queue, std::uint64_t position) noexcept {
  return (acquire(queue.step) ^ step_word(position, 0)) >> step_bits == 0;
}
/// Which call of the chain of that stamp the device executes, or is about to.
[[nodiscard]] inline std::uint64_t executed_step(const call_queue& queue, std::uint64_t stamp) noexcept {
  const std::uint64_t word = acquire(queue.step);
  return (stamp_in(word) ^ stamp) >> stamp_shift == 0 ? word & ((std::uint64_t{1} << step_bits) - 1) : 0;
}
/// The number of the function that the device executes, or is about to: of the call of which the device has noted that
/// it begins it, or else of the oldest one that has no reply; leave_function: there is none.
[[nodiscard]] inline std::uint32_t executed_function(const call_queue& queue) noexcept {
  constexpr std::uint64_t half_of_stamps = std::uint64_t{1} << 63;
  const std::uint64_t begun = stamp_in(acquire(queue.step));
  std::uint64_t oldest = 0;
  const call_slot* of = nullptr;
  for (std::uint64_t slot = 0; slot < queue_slots; ++slot) {
    if (!is_unanswered(queue, slot)) continue;
    const std::uint64_t what = acquire(queue.headers[slot].what);
    const bool has_begun = (what ^ begun) >> stamp_shift == 0;
    if (has_begun || oldest == 0 || oldest - what < half_of_stamps) {
      oldest = what;
      of = &queue.calls[slot];
    }
    if (has_begun) break;
  }
  if (of == nullptr) return leave_function;
  const std::uint32_t function = function_of(oldest);
  if (function != chain_function) return function;
  const auto* const words = reinterpret_cast<const std::uint64_t*>(of->arguments);
  std::uint64_t at = 0;
  for (std::uint64_t left = executed_step(queue, oldest); left != 0; --left) {
    const std::uint64_t next = at + 1 + chain_step::of(words[at]).words();
    if (next >= max_arguments / sizeof *words) break;  // a device that has failed may have written anything
    at = next;
  }
  return chain_step::of(words[at]).function;
}
/// Tells the function that its caller wants it to stop.
inline void send_stop(call_queue& queue, std::uint64_t position) noexcept {
  release(queue.stops[position % queue_slots], position + 1);
}

}  // namespace detail
}  // namespace ham::device
