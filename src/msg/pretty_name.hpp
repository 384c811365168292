// pretty_name() with what it costs, for tests.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ham::inline v1::msg {

struct pretty {
  std::string text;
  std::size_t steps = 0;  ///< characters that were looked at, those that were looked at again counted again
};

[[nodiscard]] pretty pretty_with_cost(std::string_view canonical);

}  // namespace ham::msg
