// Comparing two lists of handlers.
#include "handler_diff.hpp"

#include "json_text.hpp"

#include <map>
#include <ostream>
#include <utility>

namespace ham::info {

namespace {

using sorted = std::multimap<std::pair<std::string, std::string>, handler_line>;

sorted by_name(const std::vector<handler_line>& handlers) {
  sorted result;
  for (const handler_line& one : handlers) result.emplace(std::pair(one.kind, one.name), one);
  return result;
}

void print_lines(std::ostream& out, char mark, const std::string& title, const std::vector<handler_line>& lines) {
  if (lines.empty()) return;
  out << title << ":\n";
  for (const handler_line& one : lines)
    out << "  " << mark << ' ' << one.kind << ' ' << one.name << "  [" << one.layout << "]\n";
}

void write_lines(json_text& json, const char* name, const std::vector<handler_line>& lines) {
  json.open_list(name);
  for (const handler_line& one : lines) {
    json.open_object().value("kind", one.kind).value("name", one.name).value("layout", one.layout).close_object();
  }
  json.close_list();
}

}  // namespace

handler_diff compare(const std::vector<handler_line>& first, const std::vector<handler_line>& second) {
  handler_diff result;
  sorted rest = by_name(second);
  sorted unmatched;
  // Names may occur twice (functions with internal linkage): those of equal layout are paired first.
  for (const auto& [key, line] : by_name(first)) {
    auto [at, end] = rest.equal_range(key);
    while (at != end && at->second.layout != line.layout) ++at;
    if (at == end) {
      unmatched.emplace(key, line);
    } else {
      rest.erase(at);
      ++result.equal;
    }
  }
  for (auto& [key, line] : unmatched) {
    const auto other = rest.find(key);
    if (other == rest.end()) {
      result.only_first.push_back(line);
    } else {
      result.changed.push_back({line, other->second});
      rest.erase(other);
    }
  }
  for (auto& [key, line] : rest) result.only_second.push_back(line);
  return result;
}

void print_diff(std::ostream& out, const std::string& first, const std::string& second, const handler_diff& what) {
  print_lines(out, '-', "only in " + first, what.only_first);
  print_lines(out, '+', "only in " + second, what.only_second);
  if (!what.changed.empty()) out << "laid out differently, so that calls between the two are refused:\n";
  for (const layout_change& one : what.changed) {
    out << "  ! " << one.first.kind << ' ' << one.first.name << "\n      " << first << ": [" << one.first.layout
        << "]\n      " << second << ": [" << one.second.layout << "]\n";
  }
  out << what.equal << " equal, " << what.only_first.size() << " only in the first, " << what.only_second.size()
      << " only in the second, " << what.changed.size() << " laid out differently\n";
}

void print_diff_json(std::ostream& out, const std::string& first, const std::string& second, const handler_diff& what) {
  json_text json(out);
  json.open_object().value("first", first).value("second", second).value("equal", what.equal);
  write_lines(json, "only_first", what.only_first);
  write_lines(json, "only_second", what.only_second);
  json.open_list("changed");
  for (const layout_change& one : what.changed) {
    json.open_object()
        .value("kind", one.first.kind)
        .value("name", one.first.name)
        .value("first_layout", one.first.layout)
        .value("second_layout", one.second.layout)
        .close_object();
  }
  json.close_list().close_object();
}

}  // namespace ham::info
