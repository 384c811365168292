// Small messages with file descriptors between processes of one machine (SOCK_SEQPACKET, SCM_RIGHTS).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/unique_fd.hpp"

namespace ham::inline v1::base {

/// A connected pair without a name in any file system; both ends close on exec. Throws ham::config_error.
[[nodiscard]] std::pair<unique_fd, unique_fd> make_control_pair();

/// Sends one message with descriptors (at most 16). False if the peer is gone or does not read; never blocks.
bool send_control(int socket, std::span<const std::byte> message, std::span<const int> fds) noexcept;

struct control_message {
  std::vector<std::byte> bytes;
  std::vector<unique_fd> fds;
  std::int32_t sender_pid = 0;   ///< as the kernel says; 0: it is not seen from here
  bool from_other_user = false;  ///< whoever sent it is neither of this process's user nor root, says the kernel
};

/// Receives one message; nothing at end of file, on error, or, with `wait` false, when there is none. `closed` tells
/// the difference.
[[nodiscard]] std::optional<control_message> receive_control(int socket, bool wait, bool& closed);

/// Whether descriptors come with the message that receive_control would give next, which stays where it is. Whoever
/// receives a descriptor has to close it, and the last close of some takes as long as their sender likes: of a
/// connection that lingers, of a file on a network.
[[nodiscard]] bool next_control_has_fds(int socket) noexcept;

/// Closes a socket in which such descriptors may be, without waiting for that.
void abandon_control(unique_fd socket) noexcept;

}  // namespace ham::base
