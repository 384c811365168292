// Threads that wait for a reply, while another one has the receiving lock, read what its node sends by themselves.
#pragma once

#include <cstdint>

#include "core/message_receiver.hpp"
#include "core/peer_table.hpp"
#include "ham/offload/detail/slot.hpp"

namespace ham::inline v1::detail {

/// How a poll for a reply ended.
enum class polled_reply : std::uint8_t {
  nothing,    ///< it has not arrived
  settled,    ///< the call has
  elsewhere,  ///< who has the receiving lock has to poll
  unshared,   ///< the same, but that share() makes it possible
};

/// So threads whose calls go to different nodes do not wait for each other's locks. Only the awaited reply is taken,
/// and only if it is what comes next: everything else is left to who has the receiving lock.
class reply_reader {
 public:
  struct parts {
    peer_table& peers;
    call_table& pending;
    message_receiver& receiver;
    node_t self;
    const fault_injector* faults = nullptr;
  };
  explicit reply_reader(const parts& of) noexcept : of_(of) {}

  /// Polls for the reply to a call whose future is the calling thread's, without the receiving lock. Due continuations
  /// are the caller's to run. Throws ham::protocol_error: the node broke the rules; the call has settled.
  [[nodiscard]] polled_reply poll(const call_slot& awaited);

  // ---- the receiving lock is held
  /// Makes it possible to poll for replies of its node, if the medium can. False: it cannot.
  bool share(const call_slot& awaited) noexcept;
  /// The calling thread polls all endpoints itself from now on.
  void leave_to_poll(const call_slot& awaited) noexcept;

 private:
  [[nodiscard]] bool can_share(const transport::endpoint& with) const noexcept;

  static constexpr unsigned polls = 32;
  static constexpr std::size_t long_reply = 4096;  ///< longer ones are left to who has the receiving lock

  const parts of_;
};

}  // namespace ham::detail
