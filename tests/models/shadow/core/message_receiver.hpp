// Stands for src/core/message_receiver.hpp in the models: it settles calls by replies, and receives nothing else.
#pragma once

#include "core/call_table.hpp"
#include "core/peer.hpp"
#include "explorer/engine.hpp"
#include "transport/transport.hpp"

namespace ham::inline v1::detail {

class fault_injector {
 public:
  [[nodiscard]] bool for_calls() const noexcept { return false; }
};

/// What stands for plain members that are read and written under locks, for the race detector.
inline std::uint32_t* result_of(call_slot& slot) { return reinterpret_cast<std::uint32_t*>(slot.storage); }
inline std::uint32_t* members_of(call_slot& slot) { return result_of(slot) + 1; }
inline void touch(std::uint32_t* members, model::place where = model::place::current()) {
  static_cast<void>(model::plain_load(members, where));
  model::plain_store(members, 0, where);
}

class message_receiver {
 public:
  explicit message_receiver(call_table& pending) noexcept : pending_(pending) {}

  void receive(transport::endpoint& from, const transport::frame& frame) {
    receive_reply(from, *static_cast<peer*>(from.user), frame);
  }
  void receive_reply(transport::endpoint& from, peer& who, const transport::frame& frame) {
    who.bytes_received.count(0);
    settle_reply(who, frame.head.call);
    from.release();
  }

 private:
  /// The result is the number of the call.
  void settle_reply(const peer& from, std::uint32_t call) {
    call_slot* slot = nullptr;
    try {
      slot = pending_.take_reply(call, from.node);
    } catch (const protocol_error&) {
      model::check(false, "a reply to no call");
    }
    if (slot == nullptr) return;
    touch(members_of(*slot));
    model::plain_store(result_of(*slot), call, model::place::current());
    pending_.settle(*slot, slot_state::value);
  }

  call_table& pending_;
};

}  // namespace ham::detail
