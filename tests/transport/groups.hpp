// Groups of HAM_NODES, as single transports read them.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "compose/transports.hpp"
#include "ham/error.hpp"
#include "transport/factory.hpp"

namespace ham::inline v1::test {

[[nodiscard]] inline const transport::factory& transport_named(std::string_view name) {
  const transport::factory* const found = detail::find_transport(name);
  if (found == nullptr) throw std::logic_error("no transport " + std::string(name));
  return *found;
}

/// A whole group, read by the transport of this name.
[[nodiscard]] inline transport::target_group group_of(std::string_view name, std::string_view group) {
  const transport::factory& by = transport_named(name);
  transport::group_text text(group, group, [] { return std::string("advice"); });
  text.skip(by.prefix().size());
  return by.parse(text);
}

/// What is said against it.
[[nodiscard]] inline std::string refusal_of(std::string_view name, std::string_view group) {
  try {
    static_cast<void>(group_of(name, group));
  } catch (const config_error& problem) {
    return problem.what();
  }
  return "none";
}

}  // namespace ham::test
