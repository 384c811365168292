// Cutting messages that are longer than a frame, and putting them together again; the same for every transport.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "transport/transport.hpp"

namespace ham::inline v1::transport {

/// Room in the memory of a connection, while it has not been sent. Under its sending lock.
class long_room {
 public:
  long_room() = default;
  long_room(long_room&& other) noexcept : of_(std::exchange(other.of_, nullptr)), bytes_(other.bytes_) {}
  long_room& operator=(long_room&& other) noexcept {
    std::swap(of_, other.of_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~long_room() { cancel(); }

  /// False: there is none now.
  [[nodiscard]] bool reserve(message_memory& in, std::size_t size) noexcept {
    std::byte* const at = in.reserve_long(size);
    if (at == nullptr) return false;
    cancel();
    of_ = &in;
    bytes_ = {at, size};
    return true;
  }
  void cancel() noexcept {
    if (of_ != nullptr) std::exchange(of_, nullptr)->cancel_long(bytes_.data());
  }
  /// False: there is no room for its frame now, or `to` is another connection than the one that it is in: this is a
  /// child after fork.
  [[nodiscard]] bool send(endpoint& to, const frame_head& head) noexcept {
    if (to.long_messages() != of_ || !of_->send_long(bytes_.data(), head)) return false;
    of_ = nullptr;
    return true;
  }

  explicit operator bool() const noexcept { return of_ != nullptr; }
  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }

 private:
  message_memory* of_ = nullptr;
  std::span<std::byte> bytes_;
};

/// A message that waits to be sent, in one frame or in fragments.
struct outbound {
  [[nodiscard]] std::span<const std::byte> view() const noexcept {
    return room ? std::span<const std::byte>(room.bytes()) : bytes;
  }

  frame_head head;
  std::vector<std::byte> bytes;  ///< unless it has `room`
  std::uint32_t stream = 0;      ///< differs between messages that may be under way at once
  std::size_t sent = 0;
  long_room room{};  ///< where it is, if the connection has memory for it
};

/// In front of each piece; little-endian.
struct fragment_head {
  std::uint64_t total;
  std::uint64_t offset;
  std::uint32_t key;
  std::uint32_t kind;
};
static_assert(sizeof(fragment_head) == 24);

/// Turns a head as it is in memory into one as it travels, and back.
[[nodiscard]] constexpr fragment_head little_endian(fragment_head head) noexcept {
  if constexpr (std::endian::native == std::endian::big) {
    head = {__builtin_bswap64(head.total), __builtin_bswap64(head.offset), __builtin_bswap32(head.key),
            __builtin_bswap32(head.kind)};
  }
  return head;
}

/// Sends as much of `message` as there is room for. True when all of it is gone.
[[nodiscard]] inline bool send_some(endpoint& to, outbound& message, std::uint8_t fragment_kind) {
  if (message.room) return message.room.send(to, message.head);
  const std::size_t most = to.max_payload();
  if (message.bytes.size() <= most) {
    std::byte* room = to.reserve(message.bytes.size());
    if (room == nullptr) return false;
    if (!message.bytes.empty()) std::memcpy(room, message.bytes.data(), message.bytes.size());
    to.commit(message.head);
    return true;
  }
  while (message.sent < message.bytes.size()) {
    const std::size_t piece = std::min(most - sizeof(fragment_head), message.bytes.size() - message.sent);
    std::byte* room = to.reserve(sizeof(fragment_head) + piece);
    if (room == nullptr) return false;
    const fragment_head head = little_endian({message.bytes.size(), message.sent, message.head.key, message.head.kind});
    std::memcpy(room, &head, sizeof head);
    std::memcpy(room + sizeof head, message.bytes.data() + message.sent, piece);
    to.commit({message.stream, message.head.call, fragment_kind});
    message.sent += piece;
  }
  return true;
}

/// Largest message that a node takes, unless it is told otherwise.
inline constexpr std::size_t usual_message_limit = std::size_t{64} << 20;

[[noreturn]] inline void throw_too_long(std::uint64_t bytes, std::size_t limit) {
  throw protocol_error("a message of " + std::to_string(bytes) + " bytes, which is more than the " +
                       std::to_string(limit) + " that this node takes (HAM_MAX_MESSAGE)");
}

/// Puts the pieces of one peer's messages together. Memory grows with what arrives, not with what is announced, and the
/// messages of a peer that are incomplete are together never longer than the limit on one.
class assembler {
 public:
  explicit assembler(std::size_t limit = usual_message_limit) : limit_(limit) {}
  struct message {
    frame_head head;
    std::vector<std::byte> bytes;
  };
  static constexpr std::size_t max_streams = 64;

  void limit(std::size_t bytes) noexcept { limit_ = bytes; }
  /// Drops incomplete messages.
  void clear() noexcept {
    streams_.clear();
    waiting_ = 0;
  }
  /// So far, of all messages.
  [[nodiscard]] std::uint64_t pieces() const noexcept { return pieces_; }

  /// Takes one piece; a message when it was the last. Throws ham::protocol_error.
  [[nodiscard]] std::optional<message> add(const frame& piece) {
    fragment_head head{};
    if (piece.payload.size() <= sizeof head) throw protocol_error("a fragment is shorter than its head");
    std::memcpy(&head, piece.payload.data(), sizeof head);
    head = little_endian(head);
    const auto bytes = piece.payload.subspan(sizeof head);
    if (head.total > limit_ || bytes.size() > limit_ - waiting_) throw_too_long(head.total, limit_);
    const auto [at, fresh] = streams_.try_emplace(piece.head.key);
    if (streams_.size() > max_streams) throw protocol_error("too many long messages at once");
    partial& incomplete = at->second;
    if (fresh) {
      incomplete.total = head.total;
      incomplete.assembled.head = {head.key, piece.head.call, static_cast<std::uint8_t>(head.kind)};
    }
    std::vector<std::byte>& so_far = incomplete.assembled.bytes;
    if (head.total != incomplete.total || head.offset != so_far.size() || head.kind > 0x7f ||
        bytes.size() > incomplete.total - so_far.size()) {
      throw protocol_error("a fragment does not continue its message");
    }
    so_far.insert(so_far.end(), bytes.begin(), bytes.end());
    waiting_ += bytes.size();
    ++pieces_;
    if (so_far.size() < incomplete.total) return std::nullopt;
    message done = std::move(incomplete.assembled);
    waiting_ -= done.bytes.size();
    streams_.erase(at);
    return done;
  }

 private:
  struct partial {
    std::uint64_t total = 0;
    message assembled;
  };
  std::map<std::uint32_t, partial> streams_;
  std::size_t limit_;
  std::size_t waiting_ = 0;  // bytes of all partial messages
  std::uint64_t pieces_ = 0;
};

}  // namespace ham::transport
