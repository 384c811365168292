// Cores, caches and sockets as the kernel lists them.
#include "topology.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <utility>

namespace ham::inline v1::bench {

namespace {

struct kind_names {
  pair_kind kind;
  const char* description;
  std::string_view option;
};

// From near to far.
constexpr std::array<kind_names, 7> names{{{pair_kind::one_cpu, "one logical CPU", ""},
                                           {pair_kind::siblings, "siblings of one core", "siblings"},
                                           {pair_kind::same_l2, "same L2", "same-l2"},
                                           {pair_kind::same_l3, "same L3", "same-l3"},
                                           {pair_kind::other_l3, "other L3 of one socket", "other-l3"},
                                           {pair_kind::other_socket, "other socket", "other-socket"},
                                           {pair_kind::unknown, "kind unknown", ""}}};

const kind_names& names_of(pair_kind kind) noexcept { return names[static_cast<std::size_t>(kind)]; }

std::string first_line(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

bool contains(const std::vector<int>& sorted, int number) {
  return std::binary_search(sorted.begin(), sorted.end(), number);
}

/// A whole number and nothing else; -1 otherwise.
int number_of(std::string_view text) {
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : -1;
}

}  // namespace

const char* description_of(pair_kind kind) noexcept { return names_of(kind).description; }
std::string_view option_of(pair_kind kind) noexcept { return names_of(kind).option; }

std::vector<int> read_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view part = text.substr(0, comma);
    const std::size_t dash = std::min(part.find('-'), part.size());
    const int first = number_of(part.substr(0, dash));
    const int last = dash < part.size() ? number_of(part.substr(dash + 1)) : first;
    if (first < 0 || last < first) break;
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  std::sort(cpus.begin(), cpus.end());
  return cpus;
}

topology::topology(std::vector<int> cpus, const std::string& folder) : cpus_(std::move(cpus)) {
  std::sort(cpus_.begin(), cpus_.end());
  for (const int cpu : cpus_) {
    const std::filesystem::path at = std::filesystem::path(folder) / ("cpu" + std::to_string(cpu));
    place& found = places_[cpu];
    found.siblings = read_cpu_list(first_line(at / "topology/thread_siblings_list"));
    found.socket = number_of(first_line(at / "topology/physical_package_id"));
    for (int index = 0;; ++index) {
      const std::filesystem::path cache = at / "cache" / ("index" + std::to_string(index));
      const std::string level = first_line(cache / "level");
      if (level.empty()) break;
      if (first_line(cache / "type") == "Instruction") continue;
      if (level == "2") found.l2 = read_cpu_list(first_line(cache / "shared_cpu_list"));
      if (level == "3") found.l3 = read_cpu_list(first_line(cache / "shared_cpu_list"));
    }
  }
}

pair_kind topology::kind_of(int one, int other) const {
  if (one == other) return pair_kind::one_cpu;
  const auto here = places_.find(one);
  const auto there = places_.find(other);
  if (here == places_.end() || there == places_.end()) return pair_kind::unknown;
  const place& of = here->second;
  if (contains(of.siblings, other)) return pair_kind::siblings;
  if (contains(of.l2, other)) return pair_kind::same_l2;
  if (contains(of.l3, other)) return pair_kind::same_l3;
  if (of.socket < 0 || there->second.socket < 0) return pair_kind::unknown;
  return of.socket == there->second.socket ? pair_kind::other_l3 : pair_kind::other_socket;
}

std::optional<core_pair> topology::find(pair_kind kind) const {
  for (const int host : cpus_) {
    for (const int target : cpus_) {
      if (target > host && kind_of(host, target) == kind) return core_pair{host, target};
    }
  }
  return std::nullopt;
}

std::vector<pair_kind> topology::kinds() const {
  std::vector<pair_kind> found;
  for (const kind_names& one : names) {
    if (find(one.kind)) found.push_back(one.kind);
  }
  return found;
}

std::string topology::all_kinds() const {
  std::string text;
  for (const pair_kind kind : kinds()) {
    if (!option_of(kind).empty()) text += (text.empty() ? "" : ", ") + std::string(option_of(kind));
  }
  return text.empty() ? "no pair of a known kind" : text;
}

core_pair topology::best() const {
  // Pairs under one L3 come before those under one L2: where there are both, the latter are small cores.
  for (const pair_kind kind : {pair_kind::same_l3, pair_kind::same_l2, pair_kind::other_l3, pair_kind::unknown,
                               pair_kind::other_socket, pair_kind::siblings}) {
    if (const auto found = find(kind)) return *found;
  }
  return {cpus_.front(), cpus_.front()};
}

core_pair topology::choose(const std::string& text) const {
  for (const kind_names& one : names) {
    if (one.option.empty() || one.option != text) continue;
    if (const auto found = find(one.kind)) return *found;
    throw std::invalid_argument("--cores " + text + ": this process may use no such pair; it has " + all_kinds());
  }
  const std::size_t comma = text.find(',');
  if (comma != std::string::npos) {
    const core_pair asked{number_of(std::string_view(text).substr(0, comma)),
                          number_of(std::string_view(text).substr(comma + 1))};
    if (contains(cpus_, asked.host) && contains(cpus_, asked.target)) return asked;
  }
  throw std::invalid_argument("--cores " + text +
                              ": two logical CPUs that this process may use are expected, as in 0,1, or a kind of pair "
                              "that this machine has: " +
                              all_kinds());
}

}  // namespace ham::bench
