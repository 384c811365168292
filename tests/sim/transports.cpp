// The transports of a simulated job.
#include "compose/transports.hpp"

#include <algorithm>
#include <array>

#include "transport/factory.hpp"

namespace ham::inline v1::transport {

const factory& sim_factory();
const factory& islands_factory();
const factory& loopback_factory();

}  // namespace ham::transport

namespace ham::inline v1::detail {

std::span<const transport::factory* const> transports() {
  static const std::array all{&transport::sim_factory(), &transport::islands_factory(), &transport::loopback_factory()};
  return all;
}

const transport::factory* find_transport(std::string_view name) {
  const auto found = std::ranges::find(transports(), name, &transport::factory::name);
  return found == transports().end() ? nullptr : *found;
}

const transport::factory& program_starter() { throw config_error("a simulated job starts no programs"); }
const transport::network_factory& network_transport() { throw config_error("a simulated job has no network"); }
const transport::launched_factory& launched_transport() { throw config_error("a simulated job has no launcher"); }

}  // namespace ham::detail
