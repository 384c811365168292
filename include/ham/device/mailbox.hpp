// What the host and a device share: for each block of the resident kernel a queue of calls and their replies. Internal.
//
// The one-sided ring of paper 1, Fig. 8, with the device as the active side: all of it lies in memory of the host, the
// device reads calls and writes replies over the link, the host never reaches over it. A call and its reply have the
// same position, so that replies need no credit: a slot is free when the reply to its last call has been taken. The
// stamp and the first bytes share a line, so that one access over the link brings both.
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

inline constexpr std::size_t line_bytes = 64;
inline constexpr std::size_t slot_bytes = 1024;
inline constexpr std::uint64_t queue_slots = 16;
/// A call of this number asks the block to leave the resident kernel.
inline constexpr std::uint32_t leave_function = 0xffffffff;
/// Set in the number of a call that was sent: the device does not execute it, if it has not read it before. Only one
/// block decides; so calls that several blocks execute together have none.
inline constexpr std::uint32_t cancelled_function = 0x80000000;

struct call_head {
  std::uint64_t stamp;      ///< its position, and 1
  std::uint32_t function;   ///< its number in the device's table
  std::uint32_t size;       ///< of the arguments, in bytes
  std::uint64_t elsewhere;  ///< where they are in the device's memory; 0: here
};
/// One call. Written by the host, the stamp last.
struct alignas(line_bytes) call_slot {
  call_head head;
  std::byte arguments[slot_bytes - sizeof(call_head)];
};

struct reply_head {
  std::uint64_t stamp;
  std::int64_t arrival_ns;  ///< over an emulated link, when the host may see it; else 0
  call_status status;
  std::uint32_t size;  ///< of the result, in bytes
};
/// Its reply. Written by the device, the stamp last.
struct alignas(line_bytes) reply_slot {
  reply_head head;
  std::byte result[slot_bytes - sizeof(reply_head)];
};

static_assert(sizeof(call_slot) == slot_bytes && sizeof(reply_slot) == slot_bytes);
static_assert(offsetof(call_slot, arguments) == 24 && offsetof(reply_slot, result) == 24);

inline constexpr std::size_t max_arguments = sizeof(call_slot::arguments);  ///< in a slot
inline constexpr std::size_t max_result = sizeof(reply_slot::result);
inline constexpr std::size_t line_arguments = line_bytes - sizeof(call_head);  ///< beside the stamp

/// The queue of one block. Zero at first.
struct alignas(line_bytes) call_queue {
  call_slot calls[queue_slots];
  reply_slot replies[queue_slots];
  std::uint64_t stops[queue_slots];  ///< written by the host: stamps of calls that are to stop
  std::uint64_t executing;           ///< written by the device: the stamp of the call that it has begun last

  [[nodiscard]] HAM_DEVICE call_slot& call_at(std::uint64_t position) noexcept { return calls[position % queue_slots]; }
  [[nodiscard]] HAM_DEVICE reply_slot& reply_at(std::uint64_t position) noexcept {
    return replies[position % queue_slots];
  }
};

/// How the device reaches memory of the host:
///   read_line(from, stamp, to)  one access; true if the first word is `stamp`: the rest is as old as that or newer
///   read_word(from)             ordered before what follows
///   read_block(from, to, size)
///   write_block(to, from, size)
///   write_word(to, value)       ordered behind what was written before
///   note_word(to, value)        in no order
///   arrival_ns()                when the host may see what is written now, over an emulated link; else 0
/// All of it is of the calling thread, which is the one that leads its block.

/// The device's side: takes a call if there is one. `to` gets its arguments, unless they are elsewhere.
template <class Link>
[[nodiscard]] HAM_DEVICE bool take_call(Link& link, call_queue& queue, std::uint64_t position, call_head& head,
                                        std::byte* to) noexcept {
  call_slot& slot = queue.call_at(position);
  alignas(line_bytes) std::byte line[line_bytes];
  if (!link.read_line(reinterpret_cast<const std::byte*>(&slot), position + 1, line)) return false;
  head = *reinterpret_cast<const call_head*>(line);
  if (head.elsewhere != 0 || head.size > max_arguments) return true;
  const std::size_t here = head.size < line_arguments ? head.size : line_arguments;
  for (std::size_t at = 0; at < here; ++at) to[at] = line[sizeof head + at];
  if (head.size > here) link.read_block(slot.arguments + here, to + here, head.size - here);
  return true;
}

/// The device's side: answers the call at `position`.
template <class Link>
HAM_DEVICE void send_reply(Link& link, call_queue& queue, std::uint64_t position, call_status status,
                           const std::byte* result, std::uint32_t size) noexcept {
  reply_slot& slot = queue.reply_at(position);
  const reply_head head{0, link.arrival_ns(), status, size};
  if (size != 0) link.write_block(slot.result, result, size);
  link.write_block(reinterpret_cast<std::byte*>(&slot) + sizeof head.stamp,
                   reinterpret_cast<const std::byte*>(&head) + sizeof head.stamp, sizeof head - sizeof head.stamp);
  link.write_word(slot.head.stamp, position + 1);
}

/// The host's side: room for the arguments of the call at `position`, whose slot is free.
[[nodiscard]] inline std::byte* call_room(call_queue& queue, std::uint64_t position) noexcept {
  return queue.call_at(position).arguments;
}
/// Sends it.
inline void send_call(call_queue& queue, std::uint64_t position, std::uint32_t function, std::uint32_t size,
                      std::uint64_t elsewhere) noexcept {
  call_slot& slot = queue.call_at(position);
  slot.head.function = function;
  slot.head.size = size;
  slot.head.elsewhere = elsewhere;
  release(slot.head.stamp, position + 1);
}
/// Its reply, or nullptr if that has not arrived by `now_ns`. Valid until the slot is used again.
[[nodiscard]] inline const reply_slot* find_reply(call_queue& queue, std::uint64_t position,
                                                  std::int64_t now_ns) noexcept {
  const reply_slot& slot = queue.reply_at(position);
  return acquire(slot.head.stamp) == position + 1 && slot.head.arrival_ns <= now_ns ? &slot : nullptr;
}
/// Cancels it: the device answers call_status::stopped, unless it has read the number already, and executes the call as
/// if nothing had been. The reply tells which. In the first line of the slot, which the device reads anyway.
inline void cancel_call(call_queue& queue, std::uint64_t position) noexcept {
  __atomic_fetch_or(&queue.call_at(position).head.function, cancelled_function, __ATOMIC_RELAXED);
}
/// The number of the function that the device executes, or has executed when it failed; leave_function: none.
[[nodiscard]] inline std::uint32_t executed_function(call_queue& queue) noexcept {
  const std::uint64_t stamp = acquire(queue.executing);
  if (stamp == 0 || acquire(queue.reply_at(stamp - 1).head.stamp) == stamp) return leave_function;
  return queue.call_at(stamp - 1).head.function & ~cancelled_function;
}
/// Tells the function that its caller wants it to stop.
inline void send_stop(call_queue& queue, std::uint64_t position) noexcept {
  release(queue.stops[position % queue_slots], position + 1);
}

}  // namespace detail
}  // namespace ham::device
