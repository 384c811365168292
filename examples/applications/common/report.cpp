// One report of ham-bench without what ham-bench puts around it.
#include "common/report.hpp"

#include <ostream>
#include <sstream>
#include <stdexcept>

#if __has_include(<nlohmann/json.hpp>)
#include <nlohmann/json.hpp>
#endif

namespace app {

void print(std::ostream& out, const ham::bench::report& what, format as) {
  if (as == format::text) {
    ham::bench::print(out, what);
    return;
  }
#if __has_include(<nlohmann/json.hpp>)
  std::stringstream all;
  ham::bench::print_json(all, {}, {what});
  out << nlohmann::ordered_json::parse(all).at("reports").at(0).dump(2) << '\n';
#else
  throw std::logic_error("JSON was asked for but is not built in (nlohmann-json was not found at build time)");
#endif
}

}  // namespace app
