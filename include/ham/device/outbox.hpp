// Messages of device functions to their process: for each block of the resident kernel a bounded queue. Internal.
//
// It lies in memory of the host, and what the block knows of it in its own state (loop.hpp), which is the memory that
// the threads of a block share: so nothing waits for memory of the device. A thread takes a ticket, and writes the
// message over the link, its first word last; a short one with that word in one store. The host takes messages in the
// order of the tickets and publishes how many it has taken. The messages of one thread, and so of one warp whose
// threads send one after the other, arrive in order.
//
// An answer says which message it belongs to: so nobody empties its slot, and a thread that awaits it no more gives the
// slot back at once. One that comes late is not that of the next message with the slot; the host does not write it when
// it has taken that message.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ham/device/mailbox.hpp"

namespace ham::inline v1::device::detail {

inline constexpr std::uint64_t outbox_slots = 64;
inline constexpr std::uint32_t answer_slots = 64;
inline constexpr std::size_t max_message = 224;

// The first word of a message says all of it but the arguments. From the top: 12 bits of how often its slot was used,
// and 1; the node where it is to run, the slot of its answer, the size of the arguments in bytes, the function.
inline constexpr unsigned message_function_bits = 16;
inline constexpr unsigned message_size_shift = 16;
inline constexpr unsigned message_answer_shift = 24;
inline constexpr unsigned message_node_shift = 31;
inline constexpr unsigned message_stamp_shift = 52;
/// The number of a message that is text for people.
inline constexpr std::uint32_t print_function = (1U << message_function_bits) - 1;
/// The number of functions that have none.
inline constexpr std::uint32_t unknown_function = print_function - 1;
/// As a slot: nobody waits for an answer.
inline constexpr std::uint32_t no_answer = 127;
/// There are no nodes of these numbers and beyond.
inline constexpr std::int32_t max_message_node = (1 << (message_stamp_shift - message_node_shift - 1)) - 1;

struct message_head {
  std::uint32_t function;  ///< of the list of functions that the device may call (offloading.hpp)
  std::int32_t node;       ///< where it is to run
  std::uint32_t answer;    ///< the slot of its result, or no_answer
  std::uint32_t size;      ///< of the arguments, in bytes

  [[nodiscard]] static constexpr message_head of(std::uint64_t word) noexcept {
    constexpr unsigned above = 64 - message_stamp_shift;
    return {static_cast<std::uint32_t>(word) & print_function,
            static_cast<std::int32_t>(static_cast<std::int64_t>(word << above) >> (above + message_node_shift)),
            static_cast<std::uint32_t>(word >> message_answer_shift) & no_answer,
            static_cast<std::uint32_t>(word >> message_size_shift) & 0xff};
  }
  /// Without a stamp.
  [[nodiscard]] HAM_DEVICE constexpr std::uint64_t word() const noexcept {
    std::int64_t to = node;
    if (to > max_message_node) to = max_message_node;
    if (to < -max_message_node) to = -max_message_node;
    constexpr unsigned above = 64 - message_stamp_shift;
    return function | size << message_size_shift | std::uint64_t{answer} << message_answer_shift |
           static_cast<std::uint64_t>(to) << (above + message_node_shift) >> above;
  }
};

/// Of the message with that ticket in the first word; a slot that was never used has another one.
[[nodiscard]] HAM_DEVICE constexpr std::uint64_t stamp_of_message(std::uint64_t ticket) noexcept {
  return (ticket / outbox_slots + 1) << message_stamp_shift;
}

/// Written by the device.
struct alignas(line_bytes) message_slot {
  std::uint64_t what;
  std::byte arguments[max_message];
  std::uint64_t arrival_ns;  ///< over an emulated link, when the host may see it; else 0
  std::byte unused[16];
};
static_assert(sizeof(message_slot) == 256 && offsetof(message_slot, arguments) == 8);

enum class answer_status : std::uint32_t { none, value, failed };
inline constexpr unsigned answer_status_bits = 2;

/// Written by the host, the first word last.
struct alignas(line_bytes) answer_slot {
  std::uint64_t what;        ///< the ticket of its message, and 1; an answer_status
  std::uint64_t first_word;  ///< of the value
  std::byte others[line_bytes - 2 * sizeof(std::uint64_t)];
};
inline constexpr std::size_t max_answer = line_bytes - sizeof(std::uint64_t);

[[nodiscard]] HAM_DEVICE constexpr std::uint64_t answer_word(std::uint64_t ticket, answer_status status) noexcept {
  return (ticket + 1) << answer_status_bits | static_cast<std::uint64_t>(status);
}

/// Of one block, in memory of the host. Zero at first.
struct alignas(line_bytes) outbox {
  message_slot messages[outbox_slots];
  answer_slot answers[answer_slots];
  std::uint64_t consumed;  ///< messages that the host has taken
};

/// What the block knows of it. Zero at first, and stays from one residency to the next.
struct outbox_state {
  std::uint64_t next;            ///< the next ticket
  std::uint64_t known_consumed;  ///< what was last read of outbox::consumed
  std::uint64_t claimed;         ///< answer slots in use, a bit each
};

/// The device's side: the ticket of the next message of the block.
[[nodiscard]] HAM_DEVICE inline std::uint64_t take_ticket(outbox_state& own) noexcept {
  return fetch_add_in_block(own.next, 1);
}
/// Whether there is a place for it yet. Who has taken it waits for that.
template <class Link>
[[nodiscard]] HAM_DEVICE bool has_place(Link& link, outbox& to, outbox_state& own, std::uint64_t ticket) noexcept {
  if (ticket - acquire_in_block(own.known_consumed) < outbox_slots) return true;
  const std::uint64_t consumed = link.read_word(to.consumed);
  if (ticket - consumed >= outbox_slots) return false;
  release_in_block(own.known_consumed, consumed);
  return true;
}

/// Sends a message of at most max_message bytes with a ticket that has a place.
template <class Link>
HAM_DEVICE void send_message(Link& link, outbox& to, std::uint64_t ticket, const message_head& head,
                             const std::byte* bytes) noexcept {
  message_slot& slot = to.messages[ticket % outbox_slots];
  const std::uint64_t what = stamp_of_message(ticket) | head.word();
  if (const std::int64_t at_ns = link.arrival_ns(); at_ns != 0)
    release(slot.arrival_ns, static_cast<std::uint64_t>(at_ns));
  if (head.size > sizeof what) {
    link.write_block(slot.arguments, bytes, head.size);
    link.write_word(slot.what, what);
    return;
  }
  std::uint64_t all = 0;
  for (std::size_t at = 0; at < sizeof all; ++at)
    if (at < head.size) reinterpret_cast<std::byte*>(&all)[at] = bytes[at];
  link.write_pair(&slot.what, {what, all});
}

/// The device's side: a slot for an answer, or no_answer if all are in use.
[[nodiscard]] HAM_DEVICE inline std::uint32_t claim_answer_slot(outbox_state& own) noexcept {
  for (std::uint64_t used = 0; used != ~std::uint64_t{0};) {  // as is most likely
    std::uint32_t slot = 0;
    while ((used >> slot & 1) != 0) ++slot;
    const std::uint64_t before = exchange_in_block(own.claimed, used, used | std::uint64_t{1} << slot);
    if (before == used) return slot;
    used = before;
  }
  return no_answer;
}
/// Gives it back. Nobody awaits an answer in it any more.
HAM_DEVICE inline void drop_answer(outbox_state& own, std::uint32_t slot) noexcept {
  keep_bits_in_block(own.claimed, ~(std::uint64_t{1} << slot));
}

/// The device's side: the answer to the message with that ticket, if it has come; gives the slot back then.
template <class Link>
[[nodiscard]] HAM_DEVICE answer_status take_answer_from(Link& link, outbox& of, outbox_state& own, std::uint32_t slot,
                                                        std::uint64_t ticket, std::byte* value,
                                                        std::size_t size) noexcept {
  answer_slot& from = of.answers[slot];
  const word_pair words = link.read_pair(&from.what);
  if (words.first >> answer_status_bits != ticket + 1) return answer_status::none;
  const bool has_value = words.first == answer_word(ticket, answer_status::value);
  if (has_value) {
    alignas(std::uint64_t) std::byte copy[max_answer];
    constexpr std::size_t word = sizeof words.second;
    for (std::size_t at = 0; at < word; ++at) copy[at] = reinterpret_cast<const std::byte*>(&words.second)[at];
    if (size > word) link.read_block(from.others, copy + word, size - word);
    for (std::size_t at = 0; at < size; ++at) value[at] = copy[at];
  }
  drop_answer(own, slot);
  return has_value ? answer_status::value : answer_status::failed;
}

/// The host's side: whether the message with that ticket has arrived by `now_ns`.
[[nodiscard]] inline bool has_message(const outbox& of, std::uint64_t ticket, std::int64_t now_ns) noexcept {
  const message_slot& slot = of.messages[ticket % outbox_slots];
  return (acquire(slot.what) ^ stamp_of_message(ticket)) >> message_stamp_shift == 0 &&
         static_cast<std::int64_t>(acquire(slot.arrival_ns)) <= now_ns;
}
/// Copies it; `arguments` has room for max_message bytes. The device may have written anything: the size is in bounds,
/// and nothing else.
[[nodiscard]] inline message_head copy_message(const outbox& of, std::uint64_t ticket, std::byte* arguments) noexcept {
  const message_slot& slot = of.messages[ticket % outbox_slots];
  message_head head = message_head::of(acquire(slot.what));
  if (head.size > max_message) head.size = max_message;
  for (std::size_t at = 0; at < head.size; ++at) arguments[at] = slot.arguments[at];
  return head;
}
/// So many have been taken: the places of those before are free.
inline void publish_consumed(outbox& of, std::uint64_t count) noexcept { release(of.consumed, count); }
/// Answers the message with that ticket; `value` is copied. The device may look at the slot meanwhile: it asks for
/// another message's answer then.
inline void fill_answer(outbox& of, std::uint32_t slot, std::uint64_t ticket, answer_status status,
                        const std::byte* value, std::size_t size) noexcept {
  answer_slot& to = of.answers[slot];
  std::uint64_t first = 0;
  for (std::size_t at = 0; at < size; ++at) {
    if (at < sizeof first)
      reinterpret_cast<std::byte*>(&first)[at] = value[at];
    else
      to.others[at - sizeof first] = value[at];
  }
  note(to.first_word, first);
  release(to.what, answer_word(ticket, status));
}

}  // namespace ham::device::detail
