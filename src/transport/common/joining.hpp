// How a started process joins its host: what both sides say on the control socket, and what is told when it does not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/control_socket.hpp"
#include "ham/error.hpp"
#include "transport/factory.hpp"

namespace ham::inline v1::transport {

/// A target that cannot join says why in words that begin so: its numbers may have the other byte order.
inline constexpr std::string_view declined = "ham: declined: ";

// ---- target

/// The control socket that a host has named in HAM_TARGET; -1, which nothing can be received from, if `told` is no
/// number.
[[nodiscard]] int control_fd_of(std::string_view told) noexcept;
/// The host's first message; the descriptor is not handed on to what this process starts. Throws ham::config_error.
[[nodiscard]] base::control_message receive_welcome(int control_fd);
/// The same; declines a host of another user.
[[nodiscard]] base::control_message receive_welcome_of_own_user(int control_fd);
/// The same where a welcome is one struct: declines one of another release, or that cannot be, and one that has arrived
/// with another number of descriptors. `said.sane()`: what is in it besides the job.
template <class Welcome>
[[nodiscard]] base::control_message receive_welcome(int control_fd, Welcome& said, std::size_t descriptors);
/// Declines a message that has arrived with another number of descriptors.
void expect_descriptors(int control_fd, const base::control_message& message, std::size_t count);
/// Tells the host, and throws ham::config_error with the same words.
[[noreturn]] void decline(int control_fd, const std::string& why);

// ---- host

/// Whether host and targets can share memory on this machine.
[[nodiscard]] availability shared_memory_here();
/// How long a started process may take to join, and a target to greet its host, from HAM_START_TIMEOUT in seconds; 0:
/// as long as it likes. Throws ham::config_error.
[[nodiscard]] std::int64_t start_limit_ns();
/// A command as people write it.
[[nodiscard]] std::string words(const std::vector<std::string>& command);
/// Why a process that did something (`how`: "exited with status 1") is no target; `last_words` are its own.
[[nodiscard]] std::string why_not_joined(const std::string& program, const std::string& how,
                                         const std::string& last_words);
/// The `how` of a process that was ended because it took longer than `limit_ns`.
[[nodiscard]] std::string too_slow(std::int64_t limit_ns);
/// What has happened to a target that joined and then said nothing for `limit_ns`.
[[nodiscard]] std::string no_greeting(std::int64_t limit_ns);

template <class Welcome>
base::control_message receive_welcome(int control_fd, Welcome& said, std::size_t descriptors) {
  base::control_message message = receive_welcome_of_own_user(control_fd);
  if (message.bytes.size() != sizeof said) decline(control_fd, "its host's first message is of another release");
  std::memcpy(&said, message.bytes.data(), sizeof said);
  const bool sane = said.version == Welcome::protocol && said.node > 0 && said.host >= 0 && said.host != said.node &&
                    said.nodes > 1 && said.running > 1 && said.sane();
  if (!sane) decline(control_fd, "the host of this target speaks another version; build both from the same release");
  expect_descriptors(control_fd, message, descriptors);
  return message;
}

}  // namespace ham::transport
