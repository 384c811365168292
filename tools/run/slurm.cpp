// Parsing of SLURM_JOB_NODELIST and SLURM_TASKS_PER_NODE.
#include "slurm.hpp"

#include "problem.hpp"

#include <cstdlib>

namespace ham::inline v1::run {
namespace {

constexpr std::size_t max_nodes = 100'000;

[[noreturn]] void refuse(std::string_view list, const std::string& why) {
  throw problem("cannot read \"" + std::string(list) + "\" (" + why +
                "); Slurm writes lists like a[01-03,7],b and 2(x3),1; name the machines with --hosts instead");
}

/// The first comma outside of brackets.
std::size_t find_separator(std::string_view list, std::string_view text) {
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[' || text[i] == ']') {
      if (inside == (text[i] == '[')) refuse(list, "its brackets do not match");
      inside = !inside;
    }
    if (text[i] == ',' && !inside) return i;
  }
  if (inside) refuse(list, "a bracket is not closed");
  return text.npos;
}

/// "01-03,7" to 01 02 03 7: numbers keep the width of the first one of their range.
std::vector<std::string> expand_ranges(std::string_view list, std::string_view ranges) {
  std::vector<std::string> result;
  for (std::string_view rest = ranges;;) {
    const std::size_t comma = rest.find(',');
    const std::string_view range = rest.substr(0, comma);
    const std::size_t dash = range.find('-');
    const std::string_view low = range.substr(0, dash);
    const long first = parse_number(low, 0, 999'999'999);
    const long last = dash == range.npos ? first : parse_number(range.substr(dash + 1), 0, 999'999'999);
    if (first < 0 || last < first) refuse(list, "\"" + std::string(range) + "\" is no range of numbers");
    if (static_cast<std::size_t>(last - first) >= max_nodes - result.size()) refuse(list, "too many nodes");
    for (long number = first; number <= last; ++number) {
      std::string digits = std::to_string(number);
      if (digits.size() < low.size()) digits.insert(0, low.size() - digits.size(), '0');
      result.push_back(std::move(digits));
    }
    if (comma == rest.npos) return result;
    rest.remove_prefix(comma + 1);
  }
}

/// All names that one part of the list stands for.
std::vector<std::string> expand_name(std::string_view list, std::string_view name) {
  std::vector<std::string> result{""};
  while (!name.empty()) {
    const std::size_t bracket = name.find('[');
    for (std::string& one : result) one += name.substr(0, bracket);
    if (bracket == name.npos) break;
    const std::size_t end = name.find(']', bracket);
    const std::vector<std::string> numbers = expand_ranges(list, name.substr(bracket + 1, end - bracket - 1));
    if (numbers.size() * result.size() > max_nodes) refuse(list, "too many nodes");
    std::vector<std::string> longer;
    for (const std::string& one : result) {
      for (const std::string& number : numbers) longer.push_back(one + number);
    }
    result = std::move(longer);
    name.remove_prefix(end + 1);
  }
  return result;
}

}  // namespace

std::vector<std::string> expand_nodes(std::string_view list) {
  std::vector<std::string> result;
  for (std::string_view rest = list;;) {
    const std::size_t comma = find_separator(list, rest);
    for (std::string& name : expand_name(list, rest.substr(0, comma))) {
      if (name.empty()) refuse(list, "a name is missing");
      if (result.size() >= max_nodes) refuse(list, "too many nodes");
      result.push_back(parse_machine(name).name);
      if (result.back() != name) refuse(list, "\"" + name + "\" is no name of a node");
    }
    if (comma == rest.npos) return result;
    rest.remove_prefix(comma + 1);
  }
}

std::vector<std::size_t> expand_tasks(std::string_view list) {
  std::vector<std::size_t> result;
  for (std::string_view rest = list;;) {
    const std::size_t comma = rest.find(',');
    std::string_view part = rest.substr(0, comma);
    long times = 1;
    if (const std::size_t bracket = part.find("(x"); bracket != part.npos) {
      if (!part.ends_with(')')) refuse(list, "a bracket is not closed");
      times = parse_number(part.substr(bracket + 2, part.size() - bracket - 3), 1, max_nodes);
      part = part.substr(0, bracket);
    }
    const long tasks = parse_number(part, 1, 1'000'000);
    if (tasks < 0 || times < 0) refuse(list, "\"" + std::string(rest.substr(0, comma)) + "\" is no number of tasks");
    if (static_cast<std::size_t>(times) > max_nodes - result.size()) refuse(list, "too many nodes");
    result.insert(result.end(), static_cast<std::size_t>(times), static_cast<std::size_t>(tasks));
    if (comma == rest.npos) return result;
    rest.remove_prefix(comma + 1);
  }
}

std::vector<machine> slurm_allocation() {
  const char* const job = std::getenv("SLURM_JOB_ID");
  const char* const list = std::getenv("SLURM_JOB_NODELIST");
  if (job == nullptr || *job == '\0' || list == nullptr || *list == '\0') return {};
  const std::vector<std::string> names = expand_nodes(list);
  const char* const tasks = std::getenv("SLURM_TASKS_PER_NODE");
  std::vector<std::size_t> counts(names.size(), 1);
  if (tasks != nullptr && *tasks != '\0') counts = expand_tasks(tasks);
  if (counts.size() != names.size()) {
    throw problem("SLURM_JOB_NODELIST=" + std::string(list) + " and SLURM_TASKS_PER_NODE=" + tasks +
                  " are of different lengths (the variables are of different jobs); name the machines with --hosts");
  }
  std::vector<machine> result;
  for (std::size_t i = 0; i < names.size(); ++i) result.push_back({names[i], counts[i]});
  return result;
}

}  // namespace ham::run
