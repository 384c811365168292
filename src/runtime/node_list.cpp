// Parsing of HAM_NODES and of lists of cores.
#include "runtime/node_list.hpp"

#include <algorithm>
#include <charconv>

#include "ham/error.hpp"

namespace ham::detail {
namespace {

constexpr std::size_t most_targets = 4000;
constexpr std::string_view blanks = " \t\r\n";

/// A number at the start of `text`, which it is removed from.
bool take_number(std::string_view& text, std::size_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

/// One group of a list, and the list for messages.
struct group_text {
  std::string_view all;
  std::string_view part;

  [[noreturn]] void refuse(const std::string& why) const {
    throw config_error("HAM_NODES=\"" + std::string(all) + "\": cannot use \"" + std::string(part) + "\" (" + why +
                       ") write groups like shm:2 or shm:2@2+3 or exec:./app.aarch64*2 or tcp://host:7000 or "
                       "loopback:4 or mpi, separated by commas");
  }

  std::size_t count_at(std::string_view& rest, const char* after) const {
    std::size_t count = 0;
    if (!take_number(rest, count)) refuse(std::string("a number of targets must follow the ") + after);
    if (count > most_targets) refuse("at most " + std::to_string(most_targets) + " targets");
    return count;
  }

  void nothing_left(std::string_view rest) const {
    if (!rest.empty()) refuse("\"" + std::string(rest) + "\" is left over");
  }
};

// ---- words of an exec group

/// A word, with a note for each of its characters whether it stood in quotes.
struct word {
  std::string text;
  std::vector<bool> quoted;
  bool any_quotes = false;

  [[nodiscard]] std::size_t find_last_plain(char wanted) const {
    for (std::size_t i = text.size(); i-- > 0;) {
      if (text[i] == wanted && !quoted[i]) return i;
    }
    return std::string::npos;
  }
  /// Cuts the word before `at` and gives back what followed.
  std::string cut(std::size_t at) {
    std::string rest = text.substr(at);
    text.resize(at);
    quoted.resize(at);
    return rest;
  }
};

std::vector<word> words_of(const group_text& group, std::string_view text) {
  std::vector<word> words;
  bool inside_word = false;
  bool inside_quotes = false;
  for (const char c : text) {
    if (!inside_quotes && blanks.find(c) != blanks.npos) {
      inside_word = false;
      continue;
    }
    if (!inside_word) words.emplace_back();
    inside_word = true;
    if (c == '\'') {
      inside_quotes = !inside_quotes;
      words.back().any_quotes = true;
      continue;
    }
    words.back().text += c;
    words.back().quoted.push_back(inside_quotes);
  }
  if (inside_quotes) group.refuse("a quote ' is not closed");
  return words;
}

/// Takes "*COUNT" and "@CORES" off the end of the last word. An @ that no list of cores follows belongs to the word.
void take_suffix(const group_text& group, word& last, node_group& into) {
  const std::size_t at = last.find_last_plain('@');
  if (at != std::string::npos && last.text.find_first_not_of("0123456789+-", at + 1) == std::string::npos) {
    into.cpus = parse_cores(last.cut(at).substr(1), '+');
  }
  const std::size_t star = last.find_last_plain('*');
  if (star == std::string::npos) return;
  const std::string suffix = last.cut(star);
  std::string_view rest = std::string_view(suffix).substr(1);
  into.count = group.count_at(rest, "star");
  group.nothing_left(rest);
}

node_group parse_exec(const group_text& group, std::string_view rest) {
  node_group result;
  result.transport = "exec";
  std::vector<word> words = words_of(group, rest);
  if (!words.empty()) {
    take_suffix(group, words.back(), result);
    if (words.back().text.empty() && !words.back().any_quotes) words.pop_back();  // the suffix stood alone
  }
  for (word& one : words) result.command.push_back(std::move(one.text));
  if (result.command.empty() || result.command.front().empty()) {
    group.refuse("the path of a program must follow exec:");
  }
  for (const std::string& one : result.command) {
    if (one.find('\0') != std::string::npos) group.refuse("it holds a zero byte");
  }
  return result;
}

// ---- the other kinds

node_group parse_tcp(const group_text& group, std::string_view rest) {
  node_group result;
  result.transport = "tcp";
  const std::size_t star = rest.find('*');
  result.address = std::string(rest.substr(0, star));
  if (split_address(result.address).second == 0) {
    group.refuse("an address like host:7000, 10.0.0.7:7000 or [fe80::7]:7000 must follow tcp://");
  }
  if (star != std::string_view::npos) {
    rest.remove_prefix(star + 1);
    result.count = group.count_at(rest, "star");
    group.nothing_left(rest);
  }
  return result;
}

node_group parse_plain(const group_text& group) {
  node_group result;
  std::string_view rest = group.part;
  const std::size_t name_end = rest.find_first_of(":/@");
  result.transport = std::string(rest.substr(0, name_end));
  rest.remove_prefix(name_end == std::string_view::npos ? rest.size() : name_end);
  const bool ranks = result.transport == "mpi" || result.transport == "parent";
  const bool emulated = result.transport == "emulated";
  const bool on_engine = result.transport == "veo" || result.transport == "vedma";
  if (result.transport != "shm" && result.transport != "loopback" && !ranks && !emulated && !on_engine) {
    group.refuse("a group begins with shm, exec:, tcp://, mpi, emulated, veo, vedma or loopback");
  }
  if (ranks) result.count = 0;  // as many as there are
  if (rest.starts_with(':')) {
    rest.remove_prefix(1);
    result.count = group.count_at(rest, "colon");
  }
  if (emulated && rest.starts_with('/')) {
    const std::size_t end = std::min(rest.find('@'), rest.size());
    result.settings = std::string(rest.substr(1, end - 1));
    rest.remove_prefix(end);
  }
  if (rest.starts_with('@')) {
    if (result.transport != "shm" && !emulated) group.refuse("only targets that are started here can be given cores");
    result.cpus = parse_cores(rest.substr(1), '+');
    rest = {};
  }
  group.nothing_left(rest);
  return result;
}

node_group parse_group(const group_text& group) {
  constexpr std::string_view exec = "exec:";
  constexpr std::string_view tcp = "tcp://";
  if (group.part.starts_with(exec)) return parse_exec(group, group.part.substr(exec.size()));
  if (group.part.starts_with(tcp)) return parse_tcp(group, group.part.substr(tcp.size()));
  return parse_plain(group);
}

/// The next comma that is not in quotes.
std::size_t find_separator(std::string_view text) {
  bool inside_quotes = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\'') inside_quotes = !inside_quotes;
    if (text[i] == ',' && !inside_quotes) return i;
  }
  return std::string_view::npos;
}

}  // namespace

std::vector<int> parse_cores(std::string_view text, char separator) {
  std::vector<int> cores;
  std::string_view rest = text;
  for (;;) {
    std::size_t first = 0;
    bool good = take_number(rest, first);
    std::size_t last = first;
    if (good && rest.starts_with('-')) {
      rest.remove_prefix(1);
      good = take_number(rest, last);
    }
    good = good && first <= last && last < 4096;
    if (!good) {
      throw config_error("cannot read the list of cores \"" + std::string(text) +
                         "\" (numbers from 0 to 4095 and ranges like 2-3 are expected)");
    }
    for (std::size_t core = first; core <= last; ++core) cores.push_back(static_cast<int>(core));
    if (rest.empty()) return cores;
    if (rest.front() != separator) {
      throw config_error("cannot read the list of cores \"" + std::string(text) + "\" (entries are separated by '" +
                         separator + "')");
    }
    rest.remove_prefix(1);
  }
}

std::pair<std::string, std::uint16_t> split_address(std::string_view address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string_view::npos) return {};
  std::string_view host = address.substr(0, colon);
  std::string_view rest = address.substr(colon + 1);
  const bool brackets = host.starts_with('[') && host.ends_with(']');
  if (brackets) host = host.substr(1, host.size() - 2);
  std::size_t port = 0;
  const bool good = !host.empty() && take_number(rest, port) && rest.empty() && port > 0 && port <= 65535 &&
                    host.find_first_of("[]/ '") == std::string_view::npos &&
                    brackets == (host.find(':') != std::string_view::npos);
  if (!good) return {};
  return {std::string(host), static_cast<std::uint16_t>(port)};
}

std::vector<node_group> parse_nodes(std::string_view text) {
  std::vector<node_group> groups;
  if (text == "none") return groups;
  std::size_t total = 0;
  for (std::string_view rest = text;;) {
    const std::size_t comma = find_separator(rest);
    const group_text group{text, rest.substr(0, comma)};
    groups.push_back(parse_group(group));
    total += groups.back().count;
    if (total > most_targets) group.refuse("at most " + std::to_string(most_targets) + " targets in all");
    if (groups.back().transport == "mpi" && groups.size() > 1) {
      group.refuse("mpi comes first: its ranks keep their numbers");
    }
    if ((groups.back().transport == "loopback") != (groups.front().transport == "loopback")) {
      group.refuse("loopback targets cannot be mixed with others");
    }
    if (comma == std::string_view::npos) return groups;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace ham::detail
