// The part of an active message that every node can read: its handler key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "ham/msg/handler_registry.hpp"

namespace ham::inline v1::msg {

/// Base of all active messages (paper 3, Fig. 2). A received message is executed by treating its first bytes as an
/// active_msg_base and calling that, or a copy of it, with the address of the message:
///   (*reinterpret_cast<active_msg_base*>(buffer))(buffer);
/// It has no alignment requirement. Keys are those of the receiving process: between processes that differ, translate
/// them with msg::translation before sending.
class active_msg_base {
 public:
  /// Executes the message at `buffer` in the way its execution policy says. The buffer must hold the whole message.
  /// Throws protocol_error for a key that no message handler has, and whatever the message throws.
  void operator()(void* buffer) const;

  /// Executes the message in a buffer of `size_bytes`, of which nothing is trusted but the contents of a message of a
  /// known key: throws protocol_error for an unknown key and for a buffer that is too small for its message.
  static void execute(void* buffer, std::size_t size_bytes);

  /// The handler key, 4 bytes in the byte order of the sender.
  [[nodiscard]] std::uint32_t key() const noexcept {
    std::uint32_t value = 0;
    std::memcpy(&value, key_, sizeof value);
    return value;
  }

  /// Replaces the key, for a receiver whose keys differ.
  void set_key(std::uint32_t key) noexcept { std::memcpy(key_, &key, sizeof key); }

 protected:
  /// Takes the key of the entry. Throws call_error if another message type of this process has the same name.
  explicit active_msg_base(handler_entry& entry) {
    const std::uint32_t key = entry.resolve();
    if (entry.duplicate()) [[unlikely]]
      throw_duplicate(entry);
    set_key(key);
  }

 private:
  [[noreturn]] static void throw_duplicate(const handler_entry& entry);

  unsigned char key_[sizeof(std::uint32_t)];
};

}  // namespace ham::msg
