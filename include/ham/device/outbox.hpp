// Messages of device functions to their process: one bounded queue for all threads of the device. Internal.
//
// It lies in memory of the host. A thread of the device claims a place with a ticket from the device's memory, writes
// the message over the link and its stamp last; the host takes messages in the order of the tickets and publishes how
// many it has taken. The messages of one thread, and so of one warp whose threads send one after the other, arrive in
// order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ham/device/mailbox.hpp"

namespace ham::inline v1::device::detail {

inline constexpr std::uint64_t outbox_slots = 256;
inline constexpr std::size_t outbox_slot_bytes = 256;
inline constexpr std::uint32_t answer_slots = 64;
inline constexpr std::uint32_t no_answer = 0xffffffff;
/// The number of a message that is text for people.
inline constexpr std::uint32_t print_function = 0xffffffff;

struct message_head {
  std::uint64_t stamp;  ///< its ticket, and 1
  std::int64_t arrival_ns;
  std::uint32_t function;  ///< of the list of functions that the device may call (to_host.hpp)
  std::int32_t node;       ///< where it is to run
  std::uint32_t answer;    ///< the slot of its result; no_answer: nobody waits for it
  std::uint32_t size;      ///< of the arguments, in bytes
};
struct alignas(line_bytes) message_slot {
  message_head head;
  std::byte arguments[outbox_slot_bytes - sizeof(message_head)];
};
inline constexpr std::size_t max_message = sizeof(message_slot::arguments);

enum class answer_status : std::uint32_t { none, value, failed };

/// Written by the host, `filled` last; emptied by the device.
struct alignas(line_bytes) answer_slot {
  std::uint64_t filled;  ///< an answer_status
  std::byte value[line_bytes - sizeof(std::uint64_t)];
};
inline constexpr std::size_t max_answer = sizeof(answer_slot::value);

/// In memory of the host. Zero at first.
struct alignas(line_bytes) outbox {
  message_slot messages[outbox_slots];
  answer_slot answers[answer_slots];
  std::uint64_t consumed;  ///< messages that the host has taken
};

/// In memory of the device. Zero at first.
struct alignas(line_bytes) outbox_state {
  std::uint64_t next;            ///< the next ticket
  std::uint64_t known_consumed;  ///< what was last read of outbox::consumed
  std::uint64_t claimed;         ///< answer slots in use, a bit each
  std::uint64_t dropped;         ///< those of them whose answers nobody awaits
};

/// The device's side: the ticket of the next message of the device.
[[nodiscard]] HAM_DEVICE inline std::uint64_t take_ticket(outbox_state& own) noexcept { return fetch_add(own.next, 1); }
/// Whether there is a place for it yet. Who has taken it waits for that.
template <class Link>
[[nodiscard]] HAM_DEVICE bool has_place(Link& link, outbox& to, outbox_state& own, std::uint64_t ticket) noexcept {
  if (ticket - acquire(own.known_consumed) < outbox_slots) return true;
  const std::uint64_t consumed = link.read_word(to.consumed);
  if (ticket - consumed >= outbox_slots) return false;
  release(own.known_consumed, consumed);
  return true;
}

/// Sends a message of at most max_message bytes with a ticket that has a place.
template <class Link>
HAM_DEVICE void send_message(Link& link, outbox& to, std::uint64_t ticket, message_head head,
                             const std::byte* bytes) noexcept {
  message_slot& slot = to.messages[ticket % outbox_slots];
  head.arrival_ns = link.arrival_ns();
  if (head.size != 0) link.write_block(slot.arguments, bytes, head.size);
  link.write_block(reinterpret_cast<std::byte*>(&slot) + sizeof head.stamp,
                   reinterpret_cast<const std::byte*>(&head) + sizeof head.stamp, sizeof head - sizeof head.stamp);
  link.write_word(slot.head.stamp, ticket + 1);
}

/// The device's side: nobody awaits the answer in that slot any more. The slot is used again when it has come.
HAM_DEVICE inline void drop_answer(outbox_state& own, std::uint32_t slot) noexcept {
  for (;;) {
    const std::uint64_t dropped = acquire(own.dropped);
    if (replace(own.dropped, dropped, dropped | std::uint64_t{1} << slot)) return;
  }
}
/// False: it was not dropped, or another thread was quicker.
[[nodiscard]] HAM_DEVICE inline bool take_dropped_slot(outbox_state& own, std::uint32_t slot) noexcept {
  for (;;) {
    const std::uint64_t dropped = acquire(own.dropped);
    if ((dropped >> slot & 1) == 0) return false;
    if (replace(own.dropped, dropped, dropped & ~(std::uint64_t{1} << slot))) return true;
  }
}
/// One whose answer was dropped and has come, or no_answer. It is taken before it is looked at: else another thread
/// might use it, and drop it again, in between.
template <class Link>
[[nodiscard]] HAM_DEVICE std::uint32_t reuse_dropped_slot(Link& link, outbox& of, outbox_state& own) noexcept {
  for (std::uint32_t slot = 0; slot < answer_slots; ++slot) {
    if (!take_dropped_slot(own, slot)) continue;
    answer_slot& at = of.answers[slot];
    if (static_cast<answer_status>(link.read_word(at.filled)) != answer_status::none) {
      link.write_word(at.filled, 0);
      return slot;
    }
    drop_answer(own, slot);
  }
  return no_answer;
}

/// The device's side: an answer slot, or no_answer if all are in use.
template <class Link>
[[nodiscard]] HAM_DEVICE std::uint32_t claim_answer_slot(Link& link, outbox& of, outbox_state& own) noexcept {
  for (std::uint64_t used = 0;;) {  // as is most likely
    if (used == ~std::uint64_t{0}) return reuse_dropped_slot(link, of, own);
    std::uint32_t slot = 0;
    while ((used >> slot & 1) != 0) ++slot;
    const std::uint64_t before = exchange_if(own.claimed, used, used | std::uint64_t{1} << slot);
    if (before == used) return slot;
    used = before;
  }
}

/// The device's side: its answer, if it has come; gives the slot back then.
template <class Link>
[[nodiscard]] HAM_DEVICE answer_status take_answer_from(Link& link, outbox& of, outbox_state& own, std::uint32_t slot,
                                                        std::byte* value, std::size_t size) noexcept {
  answer_slot& from = of.answers[slot];
  const word_pair words = link.read_pair(&from.filled);
  const auto status = static_cast<answer_status>(words.first);
  if (status == answer_status::none) return status;
  if (status == answer_status::value) {
    alignas(std::uint64_t) std::byte copy[max_answer];
    *reinterpret_cast<std::uint64_t*>(copy) = words.second;
    constexpr std::size_t word = sizeof words.second;
    if (size > word) link.read_block(from.value + word, copy + word, size - word);
    for (std::size_t at = 0; at < size; ++at) value[at] = copy[at];
  }
  link.write_word(from.filled, 0);
  fetch_and(own.claimed, ~(std::uint64_t{1} << slot));
  return status;
}

/// The host's side: the message at `position`, or nullptr if it has not arrived by `now_ns`.
[[nodiscard]] inline const message_slot* find_message(const outbox& of, std::uint64_t position,
                                                      std::int64_t now_ns) noexcept {
  const message_slot& slot = of.messages[position % outbox_slots];
  return acquire(slot.head.stamp) == position + 1 && slot.head.arrival_ns <= now_ns ? &slot : nullptr;
}
/// So many have been taken: the places of those before are free.
inline void publish_consumed(outbox& of, std::uint64_t count) noexcept { release(of.consumed, count); }
/// Answers a message; `value` is copied.
inline void fill_answer(outbox& of, std::uint32_t slot, answer_status status, const std::byte* value,
                        std::size_t size) noexcept {
  answer_slot& to = of.answers[slot];
  for (std::size_t at = 0; at < size; ++at) to.value[at] = value[at];
  release(to.filled, static_cast<std::uint64_t>(status));
}

}  // namespace ham::device::detail
