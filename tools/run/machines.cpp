// Parsing of --hosts.
#include "machines.hpp"

#include "problem.hpp"

#include <charconv>

namespace ham::inline v1::run {
namespace {

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
  throw problem("cannot use the machine \"" + std::string(text) + "\" (" + why +
                "); write NAME or NAME:COUNT, where NAME may be USER@NAME or an address, as in board, pi@board:2, "
                "10.0.0.7:4, [fe80::7]:4");
}

/// What ssh could take for an option, and what no name of a machine holds.
void check_name(std::string_view text, const std::string& name) {
  if (name.empty()) refuse(text, "the name is missing");
  if (name.front() == '-') refuse(text, "a name does not begin with a dash");
  constexpr std::string_view others = "@._-:%";
  std::size_t users = 0;
  for (const char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c & 0x80) != 0;
    if (!letter && others.find(c) == others.npos) refuse(text, std::string("'") + c + "' is not part of a name");
    users += c == '@' ? 1 : 0;
  }
  if (users > 1 || name.front() == '@' || name.back() == '@') refuse(text, "the @ is out of place");
}

}  // namespace

long parse_number(std::string_view text, long low, long high) {
  long value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < low || value > high) return -1;
  return value;
}

machine parse_machine(std::string_view text) {
  machine result;
  std::string_view count;
  bool counted = false;
  const std::size_t bracket = text.find('[');
  if (bracket != text.npos && (bracket == 0 || text[bracket - 1] == '@')) {
    const std::size_t end = text.find(']', bracket);
    if (end == text.npos) refuse(text, "the bracket is not closed");
    result.name = std::string(text.substr(0, bracket)) + std::string(text.substr(bracket + 1, end - bracket - 1));
    if (result.name.find(':') == std::string::npos) refuse(text, "brackets are for IPv6 addresses");
    counted = end + 1 < text.size();
    if (counted && text[end + 1] != ':') refuse(text, "a colon and a count may follow the bracket");
    if (counted) count = text.substr(end + 2);
  } else {
    const std::size_t colon = text.find(':');
    const bool bare_ipv6 = colon != text.npos && text.find(':', colon + 1) != text.npos;
    counted = colon != text.npos && !bare_ipv6;
    result.name = std::string(counted ? text.substr(0, colon) : text);
    if (counted) count = text.substr(colon + 1);
  }
  check_name(text, result.name);
  if (counted) {
    const long number = parse_number(count, 1, max_targets);
    if (number < 0) refuse(text, "a count from 1 to " + std::to_string(max_targets) + " must follow the colon");
    result.count = static_cast<std::size_t>(number);
  }
  return result;
}

std::vector<machine> parse_machines(std::string_view text) {
  std::vector<machine> result;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    result.push_back(parse_machine(rest.substr(0, comma)));
    if (comma == rest.npos) return result;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace ham::run
