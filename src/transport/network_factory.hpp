// Transports whose targets wait at addresses, before their module is loaded.
#pragma once

#include <utility>

#include "transport/factory.hpp"
#include "transport/network.hpp"
#include "transport/network_address.hpp"

namespace ham::inline v1::transport {

/// What a group of such targets says.
struct network_group final : group_settings {
  explicit network_group(network_address said) : at(std::move(said)) {}
  const network_address at;
};

/// A transport of this kind.
class network_factory : public factory {
 public:
  [[nodiscard]] const network_factory* as_network() const noexcept final { return this; }
  /// Loaded when it is first asked for. Throws ham::config_error that says where it was looked for.
  [[nodiscard]] virtual network_module& module() const = 0;
};

}  // namespace ham::transport
