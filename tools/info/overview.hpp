// What ham-info prints when it is asked for nothing in particular.
#pragma once

#include "machine.hpp"
#include "transports.hpp"

#include <iosfwd>
#include <vector>

namespace ham::inline v1::info {

struct overview {
  std::vector<transport_state> transports;
  node_list nodes;
  std::vector<property> versions;
  std::vector<property> machine;
  std::vector<property> limits;
  std::vector<property> services;
};

/// Starts jobs to find out; see try_transports().
[[nodiscard]] overview look_around();

void print(std::ostream& out, const overview& what);
void print_json(std::ostream& out, const overview& what);

}  // namespace ham::info
