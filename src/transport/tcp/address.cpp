// Addresses through getaddrinfo, getnameinfo and getifaddrs.
#include "transport/tcp/address.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>

#include <cstring>
#include <memory>

#include "ham/error.hpp"

namespace ham::inline v1::transport::tcp {
namespace {

[[noreturn]] void refuse(const std::string& text, const char* why) {
  throw config_error("\"" + text + "\" is not an address (" + why + "); write ADDR:PORT, [IPV6]:PORT or NAME:PORT");
}

bool is_port(const std::string& text) noexcept {
  if (text.empty() || text.size() > 5) return false;
  unsigned value = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '9') return false;
    value = value * 10 + static_cast<unsigned>(digit - '0');
  }
  return value <= 65535;
}

host_port split(const std::string& text, bool port_may_miss) {
  if (text.find_first_of(" \t\r\n/") != std::string::npos || text.find('\0') != std::string::npos) {
    refuse(text, "it contains a character that no address has");
  }
  host_port result;
  std::string rest;
  if (!text.empty() && text.front() == '[') {
    const std::size_t end = text.find(']');
    if (end == std::string::npos) refuse(text, "the bracket is not closed");
    result.host = text.substr(1, end - 1);
    rest = text.substr(end + 1);
  } else {
    const std::size_t colon = text.find(':');
    const bool bare_ipv6 = colon != std::string::npos && text.find(':', colon + 1) != std::string::npos;
    if (bare_ipv6 && !port_may_miss) refuse(text, "an IPv6 address needs brackets, so that the port can be told");
    result.host = bare_ipv6 ? text : text.substr(0, colon);
    if (!bare_ipv6 && colon != std::string::npos) rest = text.substr(colon);
  }
  if (result.host.empty()) refuse(text, "the host is missing");
  if (rest.empty()) {
    if (!port_may_miss) refuse(text, "the port is missing");
    result.port = "0";
    return result;
  }
  if (rest.front() != ':' || !is_port(rest.substr(1))) refuse(text, "the port is not a number up to 65535");
  result.port = rest.substr(1);
  return result;
}

const in_addr* as_ipv4(const socket_address& address, in_addr& room) noexcept {
  if (address.family() == AF_INET) return &reinterpret_cast<const sockaddr_in*>(address.get())->sin_addr;
  if (address.family() != AF_INET6) return nullptr;
  const in6_addr& six = reinterpret_cast<const sockaddr_in6*>(address.get())->sin6_addr;
  if (!IN6_IS_ADDR_V4MAPPED(&six)) return nullptr;
  std::memcpy(&room, six.s6_addr + 12, sizeof room);
  return &room;
}

}  // namespace

host_port parse_address(const std::string& text) { return split(text, false); }
host_port parse_bind(const std::string& text) { return split(text, true); }

std::uint16_t socket_address::port() const noexcept {
  if (family() == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in*>(get())->sin_port);
  if (family() == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6*>(get())->sin6_port);
  return 0;
}

void socket_address::set_port(std::uint16_t port) noexcept {
  if (family() == AF_INET) reinterpret_cast<sockaddr_in*>(get())->sin_port = htons(port);
  if (family() == AF_INET6) reinterpret_cast<sockaddr_in6*>(get())->sin6_port = htons(port);
}

bool socket_address::is_loopback() const noexcept {
  in_addr room{};
  if (const in_addr* const four = as_ipv4(*this, room)) return (ntohl(four->s_addr) >> 24) == 127;
  return family() == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(get())->sin6_addr);
}

bool socket_address::is_any() const noexcept {
  if (family() == AF_INET) return reinterpret_cast<const sockaddr_in*>(get())->sin_addr.s_addr == htonl(INADDR_ANY);
  return family() == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&reinterpret_cast<const sockaddr_in6*>(get())->sin6_addr);
}

bool socket_address::same_host(const socket_address& other) const noexcept {
  in_addr room{};
  in_addr other_room{};
  const in_addr* const four = as_ipv4(*this, room);
  const in_addr* const other_four = as_ipv4(other, other_room);
  if (four != nullptr && other_four != nullptr) return four->s_addr == other_four->s_addr;
  if (family() != AF_INET6 || other.family() != AF_INET6) return false;
  const auto& six = reinterpret_cast<const sockaddr_in6*>(get())->sin6_addr;
  return std::memcmp(&six, &reinterpret_cast<const sockaddr_in6*>(other.get())->sin6_addr, sizeof six) == 0;
}

std::string socket_address::text() const {
  char host[NI_MAXHOST] = "?";
  char port[NI_MAXSERV] = "?";
  if (size != 0) ::getnameinfo(get(), size, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV);
  return family() == AF_INET6 ? "[" + std::string(host) + "]:" + port : std::string(host) + ":" + port;
}

std::vector<socket_address> resolve(const host_port& what, bool passive, std::string& why) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | (passive ? AI_PASSIVE : 0) | (is_numeric(what) ? AI_NUMERICHOST : 0);
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(what.host.c_str(), what.port.c_str(), &hints, &found);
  if (error != 0) {
    why = ::gai_strerror(error);
    return {};
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> guard(found, &::freeaddrinfo);
  std::vector<socket_address> result;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    if (one->ai_addrlen > sizeof(sockaddr_storage)) continue;
    socket_address address;
    std::memcpy(&address.storage, one->ai_addr, one->ai_addrlen);
    address.size = one->ai_addrlen;
    result.push_back(address);
  }
  return result;
}

bool is_numeric(const host_port& what) {
  in_addr four{};
  in6_addr six{};
  const std::string host = what.host.substr(0, what.host.find('%'));
  return ::inet_pton(AF_INET, host.c_str(), &four) == 1 || ::inet_pton(AF_INET6, host.c_str(), &six) == 1;
}

socket_address local_address(int socket) noexcept {
  socket_address result;
  result.size = sizeof result.storage;
  if (::getsockname(socket, result.get(), &result.size) != 0) result.size = 0;
  return result;
}

socket_address remote_address(int socket) noexcept {
  socket_address result;
  result.size = sizeof result.storage;
  if (::getpeername(socket, result.get(), &result.size) != 0) result.size = 0;
  return result;
}

socket_address visible_address(int family) noexcept {
  socket_address result;
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return result;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != family || (one->ifa_flags & IFF_UP) == 0) continue;
    socket_address candidate;
    candidate.size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    std::memcpy(&candidate.storage, one->ifa_addr, candidate.size);
    if (family == AF_INET6 &&
        IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6*>(candidate.get())->sin6_addr)) {
      continue;
    }
    if (result.size == 0 || result.is_loopback()) result = candidate;
  }
  ::freeifaddrs(all);
  return result;
}

}  // namespace ham::transport::tcp
