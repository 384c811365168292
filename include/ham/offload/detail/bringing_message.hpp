// The message of a call that brings bytes along, which are stored where the call is executed, before it. Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "ham/msg/call_layout.hpp"
#include "ham/msg/presence.hpp"
#include "ham/offload/detail/call_message.hpp"

namespace ham::inline v1::detail {

/// Bytes for memory of the node that a call goes to.
struct brought_bytes {
  std::uint64_t address, tag;
  const std::byte* from;
  std::size_t size;
  std::uint32_t swapped;  ///< size of the numbers whose byte order changes on the way; 0: none

  static constexpr std::size_t head_bytes = 24;  ///< in front of them
};

/// Writes them, with what says where they belong: head_bytes + size bytes.
void write_brought(std::byte* to, const brought_bytes& what) noexcept;
/// Stores them, and leaves the rest of the payload. Throws ham::protocol_error for a payload that is none, and
/// ham::buffer_error, with the call marked as decoded, if they must not be written where they say.
void store_brought(incoming_call& call);

/// Names such a call of the one that Tag names.
template <class Tag>
struct bringing_tag {};

template <class Message>
struct bringing_message;

template <class Tag, template <class> class Policy, class Callable, class Result, class... Params>
struct bringing_message<call_message<Tag, Policy, Callable, Result, Params...>> {
  using plain = call_message<Tag, Policy, Callable, Result, Params...>;

  /// Of functions that run on devices, which may have no version of them (device_message.hpp).
  static constexpr bool may_be_absent = requires { plain::is_present(); };

  static void body(incoming_call& call) {
    store_brought(call);
    plain::body(call);
  }

  // What handler_registrar asks for.
  using tag = bringing_tag<Tag>;
  static constexpr msg::handler_kind kind = msg::handler_kind::call;
  static constexpr std::size_t message_size() noexcept { return 0; }
  static void handler(void* buffer) {
    if constexpr (may_be_absent)
      plain::template handle<&body>(buffer);
    else
      handler_under<Policy, &body>::run(buffer);
  }
  static std::string layout() {
    return msg::call_layout<Callable, Result, std::uint64_t, std::uint64_t, std::span<const std::byte>, Params...>();
  }

  static inline const bool presence_set = [] {
    if constexpr (may_be_absent)
      return msg::set_presence(msg::handler_registrar<bringing_message>::entry(), &plain::is_present);
    else
      return false;
  }();

  [[nodiscard]] static msg::handler_entry& entry() noexcept {
    if constexpr (may_be_absent) static_cast<void>(static_cast<const void*>(&presence_set));
    return msg::handler_registrar<bringing_message>::entry();
  }

  /// As that of call_message.
  static call_slot* send(engine& at, const call_place& where, result_decoder decode, const brought_bytes& bytes,
                         const Callable& callable, const Params&... values) {
#if HAM_CHECK_ADDRESSES
    check_addresses(at, where, callable, values...);
#endif
    const std::size_t head = brought_bytes::head_bytes + bytes.size;
    const std::size_t rest = plain::size(callable, values...);
    call_room room;
    if (begin_call(at, where, entry(), head + rest, decode, when_full::wait, room)) [[likely]] {
      reservation message(room);
      refuse_old_handles(at, callable, values...);
      write_brought(room.data, bytes);
      msg::writer to(room.data + head, rest);
      plain::encode(to, callable, values...);
      to.expect_full();
      finish_call(at, message.release());
    }
    return room.slot;
  }
};

}  // namespace ham::detail
