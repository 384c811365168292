// Where a process listens: "10.0.0.7:7000", "[fe80::1]:7000", "node7:7000".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ham::inline v1::transport {

struct network_address {
  std::string host;  ///< a name or a number; IPv6 without brackets
  std::uint16_t port = 0;

  /// As it is written: IPv6 in brackets.
  [[nodiscard]] std::string text() const;
  /// "HOST:PORT" with a port from 1 to 65535, and IPv6 in brackets; nothing if it is no such text. No name is resolved.
  [[nodiscard]] static std::optional<network_address> parse(std::string_view text);

  friend bool operator==(const network_address&, const network_address&) = default;
};

}  // namespace ham::transport
