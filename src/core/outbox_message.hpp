// A message that has memory of its own until it is in the outbox of its peer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>

#include "ham/offload/detail/engine_api.hpp"
#include "transport/fragments.hpp"

namespace ham::detail {

/// Messages on their way; those that are added to it were allocated before any lock was taken.
using message_list = std::list<transport::outbound>;

/// It is longer than a frame, or a reply for which there is no room. Allocated without any lock, and then moved into
/// the outbox as it is.
struct outbox_message {
  explicit outbox_message(std::size_t size) { list.front().bytes.resize(size); }
  [[nodiscard]] std::byte* data() noexcept { return list.front().bytes.data(); }

  message_list list{1};
  // Of a call:
  when_full policy = when_full::wait;
  std::int64_t deadline_ns = 0;  ///< how long its sender waits for room; 0: for ever
};

}  // namespace ham::detail
