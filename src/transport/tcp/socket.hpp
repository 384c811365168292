// Sockets as this transport wants them: non-blocking, closed on exec, without Nagle, watched by keepalive.
#pragma once

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <string>

#include "base/unique_fd.hpp"
#include "transport/tcp/address.hpp"

namespace ham::inline v1::transport::tcp {

/// Throws ham::config_error, with its name, if a filter forbids a system call that nodes need to connect with each
/// other.
void expect_connecting_calls();
/// The same of accept4: without it nobody can connect here.
void expect_accepting_call();

/// Listens at the first of `where` that can be had. Throws ham::config_error.
[[nodiscard]] base::unique_fd listen_at(const host_port& where, bool loopback_only);
/// Begins to connect, tuned. No descriptor: `why` says why.
[[nodiscard]] base::unique_fd begin_connect(const socket_address& to, std::chrono::milliseconds timeout,
                                            std::string& why);
/// Error of a connection that was begun; 0: it stands.
[[nodiscard]] int connect_error(int socket) noexcept;

/// No Nagle; what little is under way survives a short outage; the kernel notices within `timeout` (whole seconds, at
/// least 2) that an idle link is cut.
void tune(int socket, std::chrono::milliseconds timeout) noexcept;
/// How long sent bytes may stay without an acknowledgement before the kernel gives up; 0: for ever.
void limit_silence(int socket, std::chrono::milliseconds timeout) noexcept;
/// Whether a socket that was shut down for sending has nothing left that the peer's kernel does not have, the end
/// included. Before that, closing it while something is unread discards the rest.
[[nodiscard]] bool all_delivered(int socket) noexcept;
/// Makes a socket block, for lanes that a thread of their own serves.
void make_blocking(int socket) noexcept;
/// How much of a long stream to send at once on a connected socket: what fills a packet (of the kind that the network
/// card divides) and leaves no rest. A rest becomes a small packet of its own, and during a longer call nothing of what
/// the receiver says is heard. On loopback either makes a stream half as fast.
[[nodiscard]] std::size_t burst_bytes(int socket) noexcept;

[[nodiscard]] std::string error_text(int error);
/// Whether a non-blocking call that failed so has merely nothing to do now.
[[nodiscard]] inline bool would_block(int error) noexcept { return error == EAGAIN || error == EWOULDBLOCK; }

}  // namespace ham::transport::tcp
