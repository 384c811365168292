#include "base/fault_rules.hpp"

#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "base/numbers.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::base {
namespace {

constexpr std::int64_t max_node = std::int64_t{1} << 30;
constexpr double max_delay_s = 3600;

/// Of a text with colons in names ("ns::solve"): the places of those that stand alone.
std::vector<std::string_view> parts_of(std::string_view rule) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < rule.size(); ++at) {
    if (rule[at] != ':') continue;
    std::size_t end = at;
    while (end < rule.size() && rule[end] == ':') ++end;
    if (end - at == 1) {
      parts.push_back(rule.substr(begin, at - begin));
      begin = end;
    }
    at = end - 1;
  }
  parts.push_back(rule.substr(begin));
  return parts;
}

std::optional<std::int64_t> delay_in(std::string_view text) {
  for (const auto& [unit, ns] : {std::pair{"us", 1e3}, std::pair{"ms", 1e6}, std::pair{"s", 1e9}}) {
    if (!text.ends_with(unit)) continue;
    const auto count = parse_decimal(text.substr(0, text.size() - std::string_view(unit).size()));
    if (!count) continue;
    const double delay = *count * ns;
    if (!(delay >= 1 && delay <= max_delay_s * 1e9)) return std::nullopt;
    return std::llround(delay);
  }
  return std::nullopt;
}

class rule_reader {
 public:
  rule_reader(std::string_view rule, const std::string& source) : rule_(rule), source_(source) {}

  fault_rule read() const {
    const std::vector<std::string_view> parts = parts_of(rule_);
    if (parts.size() < 3) refuse("has too few parts");
    if (parts.size() > 4) refuse("has too many parts");
    fault_rule result;
    result.text = rule_;
    result.subject = parts[0];
    if (result.subject.empty()) refuse("begins with no function");
    read_point(parts[1], result);
    const auto probability = parse_decimal(parts[2]);
    if (!probability || !(*probability >= 0 && *probability <= 1))
      refuse("has the probability \"" + std::string(parts[2]) + "\", which is no number from 0 to 1");
    result.probability = *probability;
    if (parts.size() == 4) {
      const auto seed = parse_integer(parts[3], 0, INT64_MAX);
      if (!seed) refuse("has the seed \"" + std::string(parts[3]) + "\", which is no whole number from 0 to 2^63 - 1");
      result.seed = static_cast<std::uint64_t>(*seed);
    }
    return result;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw config_error(source_ + ": the rule \"" + std::string(rule_) + "\" " + why + "; it has to be " +
                       fault_grammar);
  }

  void read_point(std::string_view text, fault_rule& result) const {
    const std::size_t equals = text.find('=');
    const std::string_view point = text.substr(0, equals);
    if (point == "request") {
      result.point = fault_point::request;
    } else if (point == "reply") {
      result.point = fault_point::reply;
    } else if (point == "connect") {
      result.point = fault_point::connect;
      if (equals != std::string_view::npos) refuse("says how a connection fails, which can only be made or not");
      if (result.subject != "*" && !parse_integer(result.subject, 0, max_node))
        refuse("begins with \"" + result.subject + "\", which is neither * nor the number of a node");
    } else {
      refuse("has \"" + std::string(point) + "\" in place of request, reply or connect");
    }
    if (equals != std::string_view::npos) read_action(text.substr(equals + 1), result);
  }

  void read_action(std::string_view text, fault_rule& result) const {
    constexpr std::array words{std::pair{"fail", fault_action::fail}, std::pair{"drop", fault_action::drop},
                               std::pair{"kill", fault_action::kill}};
    for (const auto& [word, action] : words) {
      if (text != word) continue;
      result.action = action;
      return;
    }
    const auto delay = delay_in(text);
    if (!delay)
      refuse("has the action \"" + std::string(text) + "\", which is none, nor a time such as 5ms, of at most 3600s");
    result.action = fault_action::delay;
    result.delay_ns = *delay;
  }

  std::string_view rule_;
  const std::string& source_;
};

/// Without what begins with the last bracket that opens at the outermost level and closes at the end.
std::string_view without_last(std::string_view name, char open, char close) noexcept {
  if (name.empty() || name.back() != close) return name;
  int depth = 0;
  for (std::size_t at = name.size(); at-- > 0;) {
    if (name[at] == close) ++depth;
    if (name[at] == open && --depth == 0) return name.substr(0, at);
  }
  return name;
}

std::string_view without_policies(std::string_view name) noexcept {
  while (name.ends_with(']')) {
    const std::string_view less = without_last(name, '[', ']');
    if (!less.ends_with(' ')) break;
    name = less.substr(0, less.size() - 1);
  }
  return name;
}

/// splitmix64: any two inputs give unrelated outputs.
std::uint64_t mixed(std::uint64_t number) noexcept {
  number += 0x9e3779b97f4a7c15;
  number = (number ^ (number >> 30U)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27U)) * 0x94d049bb133111eb;
  return number ^ (number >> 31U);
}

}  // namespace

std::vector<fault_rule> parse_faults(std::string_view text, const std::string& source) {
  std::vector<fault_rule> rules;
  while (!text.empty()) {
    const std::size_t end = text.find(';');
    rules.push_back(rule_reader(text.substr(0, end), source).read());
    if (rules.size() > max_fault_rules)
      throw config_error(source + " has more than " + std::to_string(max_fault_rules) + " rules");
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return rules;
}

bool matches_pattern(std::string_view pattern, std::string_view text) noexcept {
  std::size_t at = 0;
  std::size_t in_text = 0;
  std::size_t star = std::string_view::npos;
  std::size_t resumed = 0;
  while (in_text < text.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      resumed = in_text;
    } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == text[in_text])) {
      ++at;
      ++in_text;
    } else if (star != std::string_view::npos) {  // the last star stands for one character more
      at = star + 1;
      in_text = ++resumed;
    } else {
      return false;
    }
  }
  while (at < pattern.size() && pattern[at] == '*') ++at;
  return at == pattern.size();
}

bool names_function(std::string_view pattern, std::string_view name) noexcept {
  if (matches_pattern(pattern, name)) return true;
  name = without_policies(name);
  if (matches_pattern(pattern, name)) return true;
  if (name.size() > 2 && name.front() == '"' && name.back() == '"')
    return matches_pattern(pattern, name.substr(1, name.size() - 2));
  return matches_pattern(pattern, without_last(name, '(', ')'));
}

bool strikes(const fault_rule& rule, std::size_t place, std::int64_t node, std::uint64_t n) noexcept {
  const std::uint64_t of_rule = mixed(mixed(rule.seed) + place);
  const std::uint64_t number = mixed(mixed(of_rule + static_cast<std::uint64_t>(node)) + n);
  return static_cast<double>(number >> 11U) * 0x1p-53 < rule.probability;  // 53 bits: from 0 to less than 1
}

}  // namespace ham::base
