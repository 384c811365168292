// A message that has memory of its own until it is in the outbox of its peer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <stop_token>

#include "ham/offload/detail/engine_api.hpp"
#include "transport/fragments.hpp"

namespace ham::inline v1::detail {

/// Messages on their way; those that are added to it were allocated before any lock was taken.
using message_list = std::list<transport::outbound>;

/// It is longer than a frame, or a reply for which there is no room. Allocated without any lock, and then moved into
/// the outbox as it is. Its bytes are in the memory of the connection, if that has got room, or in its own.
struct outbox_message {
  outbox_message() = default;
  explicit outbox_message(std::size_t size) { allocate(size); }
  [[nodiscard]] std::byte* data() noexcept { return const_cast<std::byte*>(list.front().view().data()); }
  void allocate(std::size_t size) { list.front().bytes.resize(size); }
  [[nodiscard]] bool has_memory() const noexcept { return !list.front().bytes.empty(); }
  /// Where a message of `size` bytes to this endpoint is built; nullptr: it has not got memory of its own, and there is
  /// no room in the connection's. Its sending lock is held.
  [[nodiscard]] std::byte* room_for(transport::endpoint& to, std::size_t size) noexcept {
    transport::outbound& one = list.front();
    if (!has_memory()) {
      transport::message_memory* const memory = to.long_messages();
      if (memory == nullptr || !one.room.reserve(*memory, size)) return nullptr;
    }
    return data();
  }
  /// It will not be sent. The sending lock is held.
  void cancel() noexcept {
    if (!list.empty()) list.front().room.cancel();
  }

  message_list list{1};
  // Of a call:
  when_full policy = when_full::wait;
  std::int64_t deadline_ns = 0;  ///< how long its sender waits for room; 0: for ever
  std::stop_token token;         ///< ends that wait, too
};

}  // namespace ham::detail
