// A pending call: where its reply is decoded to, and what waits for it. Internal.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <type_traits>
#include <utility>

#include "ham/error.hpp"
#include "ham/msg/codec.hpp"
#include "ham/msg/handler.hpp"

namespace ham::inline v1::detail {

class engine;
struct call_slot;

/// What runs when a call has settled; owns itself.
struct continuation {
  void (*run)(continuation* self);
  continuation* next = nullptr;
};

/// A batch whose calls wait to be sent.
struct batch_owner {
  void (*submit)(batch_owner& self);
};

/// `seen`: failed, and the program has asked for the error.
enum class slot_state : std::uint32_t { free, pending, value, failed, seen };

/// Makes the result out of a reply, inside the slot.
using result_decoder = void (*)(call_slot& slot, msg::reader& reply);

/// One entry of the table of pending calls. The first line is what a call touches; the second holds a small result.
struct alignas(64) call_slot {
  std::atomic<slot_state> state{slot_state::free};
  std::atomic<std::uint32_t> id{0};  ///< index in the low 20 bits, generation above
  result_decoder decode = nullptr;   ///< nullptr: the result is dropped
  engine* owner = nullptr;           ///< nullptr once its runtime has ended
  continuation* then = nullptr;      ///< also the link of the list of free slots
  msg::handler_entry* function = nullptr;
  /// Where the message begins in the stream to the node; not before that, at any rate. Of a local slot: what it is
  /// the result of (unobserved.hpp).
  std::uint64_t position = 0;
  std::int64_t deadline_ns = 0;
  std::atomic<node_t> node{-1};
  bool orphan : 1 = false;              ///< nobody holds it any more: free it when the reply arrives
  std::uint8_t fault : 7 = 0;           ///< what HAM_FAULT does to the reply: the place of a rule from 1; 0: nothing
  std::atomic<bool> reply_due{false};   ///< a reply may still come; set after, and looked at before, all other members
  bool in_batch = false;                ///< not sent yet: the storage holds the batch_owner that will send it
  std::atomic<bool> unanswered{false};  ///< of the own node, which had no memory for the answer

  static constexpr std::size_t storage_bytes = 64;
  alignas(64) std::byte storage[storage_bytes];

  [[nodiscard]] bool settled() const noexcept { return state.load(std::memory_order_acquire) != slot_state::pending; }
  /// Of one that has settled.
  [[nodiscard]] bool has_failed() const noexcept { return state.load(std::memory_order_acquire) != slot_state::value; }
};

/// How a result of type Result lives in a slot: in place if small, else on the heap.
template <class Result>
struct slot_value {
  static constexpr bool in_place = sizeof(Result) <= call_slot::storage_bytes && alignof(Result) <= 64;

  template <class... Args>
  static void construct(call_slot& slot, Args&&... args) {
    if constexpr (in_place)
      ::new (static_cast<void*>(slot.storage)) Result(std::forward<Args>(args)...);
    else
      ::new (static_cast<void*>(slot.storage)) Result*(new Result(std::forward<Args>(args)...));
  }
  static Result& get(call_slot& slot) noexcept {
    if constexpr (in_place)
      return *std::launder(reinterpret_cast<Result*>(slot.storage));
    else
      return **std::launder(reinterpret_cast<Result**>(slot.storage));
  }
  static void destroy(call_slot& slot) noexcept {
    if constexpr (in_place)
      get(slot).~Result();
    else
      delete &get(slot);
  }
  static void decode(call_slot& slot, msg::reader& reply) {
    if constexpr (in_place)
      ::new (static_cast<void*>(slot.storage)) Result(msg::decode<Result>(reply));
    else
      ::new (static_cast<void*>(slot.storage)) Result*(new Result(msg::decode<Result>(reply)));
  }
};

template <>
struct slot_value<void> {
  static void construct(call_slot&) noexcept {}
  static void get(call_slot&) noexcept {}
  static void destroy(call_slot&) noexcept {}
  static void decode(call_slot&, msg::reader&) noexcept {}
};

/// The batch of a slot that was not sent yet.
inline batch_owner*& slot_batch(call_slot& slot) noexcept { return *reinterpret_cast<batch_owner**>(slot.storage); }

/// The error of a failed slot.
inline std::exception_ptr& slot_error(call_slot& slot) noexcept {
  return *std::launder(reinterpret_cast<std::exception_ptr*>(slot.storage));
}

}  // namespace ham::detail
