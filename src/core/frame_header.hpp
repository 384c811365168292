// The head of a frame, decoded: what the frame is, and what the numbers that travel with it mean (docs/wire-format.md).
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>

#include "core/wire.hpp"
#include "transport/transport.hpp"

namespace ham::inline v1::detail {

/// Each number may be asked for only where the kind of frame has it. Made by decode from what a peer has sent, else by
/// the functions named after the kinds.
///
/// Passed by value, in two registers: in whole words, because a word that is read from where parts of it were just
/// written is waited for.
class frame_header {
 public:
  // ---- what arrives
  /// Throws ham::protocol_error if there is no such kind. Nothing is left of the check where the kind is known.
  [[nodiscard, gnu::always_inline]] static inline frame_header decode(const transport::frame_head& head) {
    if (!known(head)) [[unlikely]]
      throw_unknown(head.kind);
    return frame_header(head.kind, loaded(head.key), loaded(head.call));
  }
  [[nodiscard]] static constexpr bool known(const transport::frame_head& head) noexcept {
    const bool plain = head.kind >= to_byte(wire_kind::call) && head.kind <= to_byte(wire_kind::replayed);
    return plain || (head.kind & ~(context_flag | stop_flag)) == to_byte(wire_kind::call) ||
           head.kind == (to_byte(wire_kind::batch) | context_flag);
  }
  // ---- what is sent
  /// `key`: the receiver's. `id`: no_reply if none is wanted.
  [[nodiscard]] static constexpr frame_header call(std::uint32_t key, std::uint32_t id, bool in_context) noexcept {
    return {flagged(wire_kind::call, in_context), key, id};
  }
  /// The same with what makes it special: `flags` of in_context and stoppable.
  [[nodiscard]] static constexpr frame_header flagged_call(std::uint32_t key, std::uint32_t id,
                                                           std::uint8_t flags) noexcept {
    return {static_cast<std::uint8_t>(to_byte(wire_kind::call) | flags), key, id};
  }
  /// The call `id` is to stop.
  [[nodiscard]] static constexpr frame_header cancel(std::uint32_t id) noexcept {
    return {to_byte(wire_kind::cancel), 0, id};
  }
  [[nodiscard]] static constexpr frame_header batch(std::uint32_t calls, bool in_context) noexcept {
    return {flagged(wire_kind::batch, in_context), calls, no_reply};
  }
  [[nodiscard]] static constexpr frame_header reply(std::uint32_t id) noexcept {
    return {to_byte(wire_kind::reply), 0, id};
  }
  [[nodiscard]] static constexpr frame_header reply_error(std::uint32_t id) noexcept {
    return {to_byte(wire_kind::reply_error), 0, id};
  }
  [[nodiscard]] static constexpr frame_header replayed(std::uint32_t replay) noexcept {
    return {to_byte(wire_kind::replayed), replay, no_reply};
  }
  /// Of the kinds that have a payload only.
  [[nodiscard]] static constexpr frame_header of(wire_kind kind) noexcept {
    assert(kind >= wire_kind::batch_reply);
    return {to_byte(kind), 0, no_reply};
  }
  /// To be passed on to `receiver`. `what`: the kind of a frame, relay_credit, or relay_end.
  [[nodiscard]] static constexpr frame_header relayed(std::uint32_t receiver, std::uint32_t what) noexcept {
    return {to_byte(wire_kind::relay), receiver, what};
  }
  [[nodiscard]] constexpr transport::frame_head encode() const noexcept {
    return {number(), call_id(), static_cast<std::uint8_t>(byte_)};
  }

  [[nodiscard]] constexpr wire_kind kind() const noexcept {
    return static_cast<wire_kind>(byte_ & ~(context_flag | stop_flag));
  }
  [[nodiscard]] constexpr bool is_call() const noexcept { return kind() == wire_kind::call; }
  [[nodiscard]] constexpr bool is_batch() const noexcept { return kind() == wire_kind::batch; }

  // ---- of a call or a batch
  /// How many calls it is.
  [[nodiscard]] constexpr std::uint32_t calls() const noexcept {
    assert(is_call() || is_batch());
    return is_batch() ? number() : 1;
  }
  /// Whether it is for a context, not for the main queue.
  [[nodiscard]] constexpr bool in_context() const noexcept { return (byte_ & context_flag) != 0; }
  /// Whether its caller can stop it.
  [[nodiscard]] constexpr bool stoppable() const noexcept { return (byte_ & stop_flag) != 0; }
  /// Bytes of the payload before its arguments or records: the number of the context, and the time that is left.
  [[nodiscard]] constexpr std::size_t prefix_bytes() const noexcept {
    return (in_context() ? sizeof(std::uint32_t) : 0) + (stoppable() ? time_left_bytes : 0);
  }

  // ---- of a call
  /// Of its function.
  [[nodiscard]] constexpr std::uint32_t key() const noexcept {
    assert(is_call());
    return number();
  }
  /// For the main queue: the common case, at the price of one comparison.
  [[nodiscard]] constexpr bool is_call_of_main_queue() const noexcept { return byte_ == to_byte(wire_kind::call); }

  // ---- of a call, a batch, the reply to a call, or its stop
  /// no_reply: the message itself is not answered; a ping is not, and the calls of a batch have ids of their own.
  [[nodiscard]] constexpr std::uint32_t id() const noexcept {
    assert(is_call() || is_batch() || is_reply() || kind() == wire_kind::cancel);
    return call_id();
  }

  // ---- of the result of a replay
  /// Which one of its graph.
  [[nodiscard]] constexpr std::uint32_t replay() const noexcept {
    assert(kind() == wire_kind::replayed);
    return number();
  }

  // ---- of a frame that is relayed
  /// Whom it is for.
  [[nodiscard]] constexpr std::uint32_t relay_receiver() const noexcept {
    assert(kind() == wire_kind::relay);
    return number();
  }
  [[nodiscard]] constexpr std::uint32_t relay_what() const noexcept {
    assert(kind() == wire_kind::relay);
    return call_id();
  }

 private:
  static constexpr std::uint8_t context_flag = detail::in_context;
  static constexpr std::uint8_t stop_flag = detail::stoppable;

  [[nodiscard]] constexpr bool is_reply() const noexcept {
    return kind() == wire_kind::reply || kind() == wire_kind::reply_error;
  }
  constexpr frame_header(std::uint8_t byte, std::uint32_t number, std::uint32_t call) noexcept
      : numbers_(number | std::uint64_t{call} << 32), byte_(byte) {}
  [[nodiscard]] constexpr std::uint32_t number() const noexcept { return static_cast<std::uint32_t>(numbers_); }
  [[nodiscard]] constexpr std::uint32_t call_id() const noexcept { return static_cast<std::uint32_t>(numbers_ >> 32); }
  [[nodiscard]] static constexpr std::uint8_t flagged(wire_kind kind, bool in_context) noexcept {
    return static_cast<std::uint8_t>(to_byte(kind) | (in_context ? context_flag : 0));
  }
  [[noreturn]] static void throw_unknown(std::uint8_t kind);
  /// A number that transports have just written, by itself. The compiler would like to read it together with its
  /// neighbour; such a read waits until both have left the processor's store buffer.
  [[nodiscard]] static std::uint32_t loaded(std::uint32_t number) noexcept {
    asm("" : "+r"(number));
    return number;
  }

  // Key of a call, number of calls of a batch, stream of a fragment, or replay; above it the id of a call.
  std::uint64_t numbers_;
  std::uint32_t byte_;  // the kind, with the flag
};

}  // namespace ham::detail
