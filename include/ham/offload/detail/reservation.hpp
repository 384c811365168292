// Room for one message to a node: it is sent, or given back when its reservation goes. Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "ham/offload/detail/slot.hpp"

namespace ham::inline v1::detail {

struct batch_reply;
struct outbox_message;
struct peer;

/// Where the bytes of a call are written: the next frame of the ring to its node, or memory of its own if it does not
/// fit in there. From begin_call until it is sent or given back, the thread holds the lock of that node's sending side.
struct call_room {
  std::byte* data = nullptr;  ///< exactly the size that was asked for
  peer* to = nullptr;
  outbox_message* queued = nullptr;  ///< owned: the memory of a message that does not go into the ring at once
  call_slot* slot = nullptr;         ///< the pending call, which is its future's from sending on; nullptr: none
  std::uint32_t key = 0;             ///< the node's, of the function
  std::uint8_t flags = 0;            ///< of its kind: for a context, can be stopped
  bool pinged = false;               ///< no reply is wanted, `key` is this node's, too, and is to be recorded
};

/// The same of a reply: of a message, or of a part of the one that answers a batch.
struct reply_room {
  std::byte* data = nullptr;
  peer* to = nullptr;
  outbox_message* queued = nullptr;  ///< as above
  batch_reply* batch = nullptr;      ///< in which the result is collected, under its lock
};

/// Frees what was reserved, with the lock. Nothing was sent.
void give_back(call_room& room) noexcept;
void give_back(reply_room& room) noexcept;

/// Gives room back for which begin_call or begin_reply has succeeded, unless it is sent. Apart from the room, which the
/// runtime writes: the compiler sees what becomes of this object, and nothing of it is left where encoding cannot fail.
template <class Room>
class reservation {
 public:
  explicit reservation(Room& room) noexcept : room_(&room) {}
  reservation(const reservation&) = delete;
  reservation& operator=(const reservation&) = delete;
  ~reservation() {
    if (room_ != nullptr) [[unlikely]]
      give_back(*room_);
  }

  /// For who sends it.
  [[nodiscard]] Room& release() noexcept { return *std::exchange(room_, nullptr); }

 private:
  Room* room_;
};

}  // namespace ham::detail
