// Addresses from text, and back.
#include "transport/network_address.hpp"

#include "base/numbers.hpp"

namespace ham::inline v1::transport {

std::string network_address::text() const {
  const bool brackets = host.find(':') != std::string::npos;
  return (brackets ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::optional<network_address> network_address::parse(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  const bool brackets = host.starts_with('[') && host.ends_with(']');
  if (brackets) host = host.substr(1, host.size() - 2);
  const auto port = base::parse_integer(text.substr(colon + 1), 1, 65535);
  const bool good = port && !host.empty() && host.find_first_of("[]/ '") == std::string_view::npos &&
                    brackets == (host.find(':') != std::string_view::npos);
  if (!good) return std::nullopt;
  return network_address{std::string(host), static_cast<std::uint16_t>(*port)};
}

}  // namespace ham::transport
