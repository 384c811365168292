// Comparing two manifests, by the translation that nodes make of them.
#include "handler_diff.hpp"

#include "ham/msg/translation.hpp"
#include "json_text.hpp"

#include <ostream>
#include <unordered_map>

namespace ham::inline v1::info {

namespace {

using entry = msg::manifest::entry;

std::string kind_of(const entry& one) { return one.kind == msg::handler_kind::call ? "call" : "message"; }

std::unordered_map<std::string, std::uint32_t> keys_of(const msg::manifest& what) {
  std::unordered_map<std::string, std::uint32_t> keys;
  for (const entry& one : what.entries()) keys.emplace(one.name, static_cast<std::uint32_t>(keys.size()));
  return keys;
}

void print_entries(std::ostream& out, char mark, const std::string& binary, const std::vector<entry>& entries) {
  if (entries.empty()) return;
  out << "only in " << binary << ":\n";
  for (const entry& one : entries) {
    out << "  " << mark << ' ' << kind_of(one) << ' ' << one.pretty() << "  [" << one.layout << "]\n";
  }
}

void write_entries(json_text& json, const char* name, const std::vector<entry>& entries) {
  json.open_list(name);
  for (const entry& one : entries) {
    json.open_object()
        .value("kind", kind_of(one))
        .value("name", one.pretty())
        .value("layout", one.layout)
        .close_object();
  }
  json.close_list();
}

}  // namespace

handler_diff compare(const described_binary& first, const described_binary& second) {
  handler_diff result;
  result.first = first.path;
  result.second = second.path;
  if (!first.content.layout().same_structs(second.content.layout())) {
    result.first_data = first.content.layout().describe_against(second.content.layout());
    result.second_data = second.content.layout().describe_against(first.content.layout());
  }
  const msg::translation there(first.content, second.content);
  const auto keys_there = keys_of(second.content);
  const auto keys_here = keys_of(first.content);
  for (std::uint32_t key = 0; key < first.content.entries().size(); ++key) {
    const entry& one = first.content.entries()[key];
    const auto other = keys_there.find(one.name);
    if (other == keys_there.end()) {
      result.only_first.push_back(one);
    } else if (msg::translation::usable(there[key])) {
      ++result.equal;
    } else {
      result.refused.push_back({kind_of(one), one.pretty(), one.layout, second.content.entries()[other->second].layout,
                                there.explain(key, first.path, second.path)});
    }
  }
  for (const entry& one : second.content.entries()) {
    if (!keys_here.contains(one.name)) result.only_second.push_back(one);
  }
  return result;
}

void print_diff(std::ostream& out, const handler_diff& what) {
  if (!what.first_data.empty()) {
    out << "data: " << what.first << " has " << what.first_data << ", " << what.second << " has " << what.second_data
        << '\n';
  }
  print_entries(out, '-', what.first, what.only_first);
  print_entries(out, '+', what.second, what.only_second);
  if (!what.refused.empty()) out << "in both, but calls between the two are refused:\n";
  for (const refused_call& one : what.refused) {
    out << "  ! " << one.kind << ' ' << one.name << "\n      " << what.first << ": [" << one.first_layout << "]\n      "
        << what.second << ": [" << one.second_layout << "]\n      " << one.why << '\n';
  }
  out << what.equal << " equal, " << what.only_first.size() << " only in the first, " << what.only_second.size()
      << " only in the second, " << what.refused.size() << " refused\n";
}

void print_diff_json(std::ostream& out, const handler_diff& what) {
  json_text json(out);
  json.open_object().value("first", what.first).value("second", what.second).value("equal", what.equal);
  json.value("first_data", what.first_data).value("second_data", what.second_data);
  write_entries(json, "only_first", what.only_first);
  write_entries(json, "only_second", what.only_second);
  json.open_list("refused");
  for (const refused_call& one : what.refused) {
    json.open_object()
        .value("kind", one.kind)
        .value("name", one.name)
        .value("first_layout", one.first_layout)
        .value("second_layout", one.second_layout)
        .value("why", one.why)
        .close_object();
  }
  json.close_list().close_object();
}

}  // namespace ham::info
