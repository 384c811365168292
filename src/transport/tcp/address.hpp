// "ADDR:PORT" in text and as the system has it: IPv4, IPv6 in brackets, host names.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <vector>

namespace ham::inline v1::transport::tcp {

struct host_port {
  std::string host;
  std::string port;
};

/// "10.0.0.7:7000", "[fe80::1]:7000", "node7:7000". Throws ham::config_error.
[[nodiscard]] host_port parse_address(const std::string& text);
/// The same, where the port may be missing ("0" then: any); "::1" needs no brackets then.
[[nodiscard]] host_port parse_bind(const std::string& text);

/// An address of the system's.
struct socket_address {
  sockaddr_storage storage{};
  socklen_t size = 0;

  [[nodiscard]] const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&storage); }
  [[nodiscard]] sockaddr* get() noexcept { return reinterpret_cast<sockaddr*>(&storage); }
  [[nodiscard]] int family() const noexcept { return storage.ss_family; }
  [[nodiscard]] std::uint16_t port() const noexcept;
  void set_port(std::uint16_t port) noexcept;
  /// 127.0.0.0/8, ::1: no other machine sees what is sent there.
  [[nodiscard]] bool is_loopback() const noexcept;
  /// 0.0.0.0, ::
  [[nodiscard]] bool is_any() const noexcept;
  /// The address without the port is the same.
  [[nodiscard]] bool same_host(const socket_address& other) const noexcept;
  /// "10.0.0.7:7000", "[::1]:7000"
  [[nodiscard]] std::string text() const;
};

/// All addresses of a name. `passive`: to listen at. Blocks if the name is not a number; empty: `why` says why.
[[nodiscard]] std::vector<socket_address> resolve(const host_port& what, bool passive, std::string& why);
[[nodiscard]] bool is_numeric(const host_port& what);

[[nodiscard]] socket_address local_address(int socket) noexcept;
[[nodiscard]] socket_address remote_address(int socket) noexcept;
/// An address of this machine that others can see, for one that listens everywhere; loopback if there is none.
[[nodiscard]] socket_address visible_address(int family) noexcept;

}  // namespace ham::transport::tcp
