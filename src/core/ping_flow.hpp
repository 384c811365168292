// What a node may set aside for later, and back-pressure for pings. Nobody waits for their results, so what a node has
// set aside must slow down who sends them by other means: the node says when it has too much, and when it has room
// again.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <span>

#include "base/renew.hpp"
#include "core/backlog.hpp"
#include "core/peer_table.hpp"
#include "core/reply_sender.hpp"
#include "core/self_endpoint.hpp"

namespace ham::inline v1::detail {

/// All members may be called from any thread, which holds no sending lock, unless said otherwise.
class ping_flow {
 public:
  /// `own`: by which the node calls itself.
  ping_flow(peer_table& peers, const self_endpoint& own, reply_sender& replies) noexcept
      : peers_(peers), own_(own), replies_(replies) {}

  // ---- receiving
  /// Before anything arrives.
  void limit(std::size_t bytes) noexcept { room_.limit(bytes); }
  [[nodiscard]] std::size_t max_bytes() const noexcept { return room_.max_bytes(); }
  /// Room for a message that is set aside. False: there is none.
  [[nodiscard]] bool take(std::size_t bytes) noexcept { return room_.take(bytes); }
  /// It has begun. Peers that hold their pings hear it if there is room for them.
  void give(std::size_t bytes) noexcept {
    room_.give(bytes);
    if (slowed_peers_.load(std::memory_order_seq_cst) != 0) [[unlikely]]
      resume();
  }
  /// It will not begin: the node ends.
  void drop(std::size_t bytes) noexcept { room_.give(bytes); }
  /// Whether there is little room left.
  [[nodiscard]] bool fills() const noexcept { return room_.filling(); }
  /// A ping was set aside: its sender is told to hold further ones if there is little room left.
  void slow_if_filling(peer& from) noexcept {
    if (room_.filling()) [[unlikely]]
      slow(from);
  }
  /// The peer says what give() and slow_if_filling() say. Throws ham::protocol_error.
  static void receive(peer& from, std::span<const std::byte> payload);

  // ---- sending
  /// Whether a ping may leave now. False: see renew(). The sending lock is held.
  [[nodiscard]] bool welcomes(peer& to, std::size_t size) const noexcept;
  /// Whether the peer takes no pings now.
  [[nodiscard]] bool holds(const peer& to) const noexcept;
  /// Whether that is because of messages that wait behind its threads; else only because they have not been received.
  [[nodiscard]] bool waits_for_calls(const peer& to) const noexcept { return to.pings.held() || room_.filling(); }

  /// In a child after fork: nobody holds the lock.
  void detach_after_fork() noexcept { base::renew(mutex_); }

 private:
  void slow(peer& from) noexcept;
  void resume() noexcept;
  void say(peer& to, bool hold) noexcept;

  peer_table& peers_;
  const self_endpoint& own_;
  reply_sender& replies_;
  backlog room_;
  std::mutex mutex_;  ///< `slowed_` of peers
  std::atomic<int> slowed_peers_{0};
};

}  // namespace ham::detail
