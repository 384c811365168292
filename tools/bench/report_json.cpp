// Reports as JSON, if nlohmann-json was there at build time.
#include "report.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <stdexcept>
#include <string>

#if __has_include(<nlohmann/json.hpp>)

#include <nlohmann/json.hpp>

namespace ham::inline v1::bench {

namespace {

using json = nlohmann::ordered_json;

json to_json(double number, int digits) {
  if (!std::isfinite(number)) return nullptr;
  if (digits == 0 && number == std::floor(number)) return static_cast<std::int64_t>(number);
  return number;
}

json to_json(const cell& what) {
  if (const auto* text = std::get_if<std::string>(&what.value)) return *text;
  if (const auto* both = std::get_if<range>(&what.value)) {
    return json::array({to_json(both->low, what.digits), to_json(both->high, what.digits)});
  }
  return to_json(std::get<double>(what.value), what.digits);
}

json to_json(const table& what) {
  json rows = json::array();
  for (const auto& row : what.rows) {
    json object = json::object();
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (!object.emplace(what.columns.at(i), to_json(row[i])).second) {
        throw std::logic_error("two columns of a table are called \"" + what.columns[i] + '"');
      }
    }
    rows.push_back(std::move(object));
  }
  return {{"title", what.title}, {"rows", std::move(rows)}};
}

json to_json(const bar& what) {
  return {
      {"name", what.name},   {"value", what.value}, {"wanted", what.wanted == bar::direction::at_most ? "<=" : ">="},
      {"limit", what.limit}, {"unit", what.unit},   {"met", what.met()}};
}

json to_json(const report& what) {
  json tables = json::array();
  for (const table& one : what.tables) tables.push_back(to_json(one));
  json bars = json::array();
  for (const bar& one : what.bars) bars.push_back(to_json(one));
  return {{"name", what.name}, {"tables", std::move(tables)}, {"bars", std::move(bars)}, {"remarks", what.remarks}};
}

}  // namespace

bool json_available() noexcept { return true; }

void print_json(std::ostream& out, const conditions& where, const std::vector<report>& reports) {
  json all = json::array();
  for (const report& one : reports) all.push_back(to_json(one));
  const json root = {{"host", where.host},
                     {"transport", where.transport},
                     {"cores", where.cores},
                     {"host_core", where.host_core},
                     {"target_core", where.target_core},
                     {"core_pair", where.core_pair},
                     {"repetitions", where.repetitions},
                     {"reports", std::move(all)}};
  out << root.dump(2) << '\n';
}

}  // namespace ham::bench

#else

namespace ham::inline v1::bench {

bool json_available() noexcept { return false; }

void print_json(std::ostream&, const conditions&, const std::vector<report>&) {
  throw std::logic_error("JSON was asked for but is not built in");
}

}  // namespace ham::bench

#endif
