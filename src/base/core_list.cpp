// Parsing of lists of cores.
#include "base/core_list.hpp"

#include <optional>
#include <string>

#include "base/numbers.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::base {

std::vector<int> parse_cores(std::string_view text, char separator) {
  std::vector<int> cores;
  std::string_view rest = text;
  for (;;) {
    const auto first = take_number(rest);
    auto last = first;
    if (first && rest.starts_with('-')) {
      rest.remove_prefix(1);
      last = take_number(rest);
    }
    if (!first || !last || *first > *last || *last >= 4096) {
      throw config_error("cannot read the list of cores \"" + std::string(text) +
                         "\" (numbers from 0 to 4095 and ranges like 2-3 are expected)");
    }
    for (std::size_t core = *first; core <= *last; ++core) cores.push_back(static_cast<int>(core));
    if (rest.empty()) return cores;
    if (rest.front() != separator) {
      throw config_error("cannot read the list of cores \"" + std::string(text) + "\" (entries are separated by '" +
                         separator + "')");
    }
    rest.remove_prefix(1);
  }
}

}  // namespace ham::base
