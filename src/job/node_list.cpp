// Parsing of HAM_NODES.
#include "job/node_list.hpp"

#include <algorithm>
#include <cctype>
#include <string>

#include "compose/transports.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::detail {
namespace {

using transport::factory;
using transport::group_text;

/// "A, B or C" of what `word_of` says of the transports that users may name.
template <class WordOf>
std::string alternatives(const char* between, const char* before_last, WordOf word_of) {
  std::vector<std::string> words;
  for (const factory* const one : transports()) {
    const std::string_view word = word_of(*one);
    if (!one->help().syntax.empty() && !word.empty()) words.emplace_back(word);
  }
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? before_last : between;
    text += words[i];
  }
  return text;
}

std::string advice() {
  return "write groups like " + alternatives(" or ", " or ", [](const factory& one) { return one.example(); }) +
         ", separated by commas";
}

/// Behind a bare name something else than a letter follows.
bool begins(std::string_view group, std::string_view prefix) {
  if (!group.starts_with(prefix)) return false;
  const bool bare = std::isalnum(static_cast<unsigned char>(prefix.back())) != 0;
  return !bare || group.size() == prefix.size() ||
         std::string_view(":/@").find(group[prefix.size()]) != std::string_view::npos;
}

constexpr std::string_view each_rank = "each:";
constexpr std::string_view each_server = "/each:";  // behind an address
constexpr std::string_view restart = "+restart";    // behind a group

target_group parse_named(group_text& text) {
  for (const factory* const one : transports()) {
    if (!begins(text.rest(), one->prefix())) continue;
    text.skip(one->prefix().size());
    return one->parse(text);
  }
  text.refuse("a group begins with " + alternatives(", ", " or ", [](const factory& one) { return one.prefix(); }));
}

/// What a node starts beside itself.
void expect_started(const target_group& group, const group_text& text, const char* who) {
  if (group.by->as_starting() != nullptr) return;
  text.refuse(std::string("each: is for targets that ") + who +
              " can start: " + alternatives(", ", " or ", [](const factory& one) {
                return one.as_starting() == nullptr ? std::string_view() : one.name();
              }));
}

/// tcp://host:7000/each:shm:2/each:emulated
target_group parse_server_group(std::string_view all, std::string_view part, std::size_t address_end) {
  group_text front(all, part.substr(0, address_end), advice);
  target_group servers = parse_named(front);
  servers.text = part.substr(0, address_end);
  for (std::string_view rest = part.substr(address_end); !rest.empty();) {
    rest.remove_prefix(each_server.size());
    const std::string_view own = rest.substr(0, rest.find(each_server));
    group_text text(all, own, advice);
    servers.behind.push_back(parse_named(text));
    servers.behind.back().text = own;
    expect_started(servers.behind.back(), text, "a waiting program");
    if (!servers.behind.back().program.command.empty())
      text.refuse("a waiting program starts itself as target, not what a host names");
    rest.remove_prefix(own.size());
  }
  return servers;
}

target_group parse_group(group_text& text) {
  const std::string written(text.rest());
  const bool each = text.rest().starts_with(each_rank);
  if (each) text.skip(each_rank.size());
  target_group group = parse_named(text);
  group.each_rank = each;
  group.text = written.substr(each ? each_rank.size() : 0);
  if (each) expect_started(group, text, "a rank");
  if (each && !group.cores.empty())
    text.refuse("the cores of ranks, and of what they start, are their launcher's to choose: leave the @ away");
  return group;
}

void set_restarts(target_group& group, const group_text& text) {
  if (group.by->as_in_process() != nullptr) text.refuse("+restart is for processes: threads of this one end with it");
  if (group.by->as_launched() != nullptr) text.refuse("+restart is not for ranks, which their launcher starts");
  if (group.each_rank || !group.behind.empty())
    text.refuse("+restart is for targets that the host itself starts or reaches, so not with each:");
  group.restarts = true;
}

/// Whether it is a group of programs that wait at an address.
bool is_address(std::string_view group) {
  return std::ranges::any_of(
      transports(), [&](const factory* one) { return one->as_network() != nullptr && begins(group, one->prefix()); });
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

void expect_good_company(const std::vector<target_group>& groups, const group_text& last) {
  const factory& by = *groups.back().by;
  if (by.as_launched() != nullptr && groups.size() > 1) {
    last.refuse(std::string(by.name()) + " comes first: its ranks keep their numbers");
  }
  const factory& first = *groups.front().by;
  if (groups.back().each_rank && first.as_launched() == nullptr)
    last.refuse("each: is for jobs whose processes a launcher has started: write mpi,each:...");
  if ((by.as_in_process() != nullptr) != (first.as_in_process() != nullptr)) {
    const factory& alone = by.as_in_process() != nullptr ? by : first;
    last.refuse(std::string(alone.name()) + " targets cannot be mixed with others");
  }
}

}  // namespace

std::vector<target_group> parse_nodes(std::string_view text) {
  std::vector<target_group> groups;
  if (text == no_nodes) return groups;
  std::size_t total = 0;
  for (std::string_view rest = text;;) {
    const std::size_t comma = find_separator(rest);
    std::string_view part = rest.substr(0, comma);
    const bool restarts = part.ends_with(restart);
    if (restarts) part.remove_suffix(restart.size());
    group_text group(text, part, advice);
    const std::size_t address_end = is_address(part) ? part.find(each_server) : std::string_view::npos;
    groups.push_back(address_end == std::string_view::npos ? parse_group(group)
                                                           : parse_server_group(text, part, address_end));
    if (restarts) set_restarts(groups.back(), group);
    total += groups.back().count;
    for (const target_group& one : groups.back().behind) total += groups.back().count * one.count;
    if (total > transport::max_targets)
      group.refuse("at most " + std::to_string(transport::max_targets) + " targets in all");
    expect_good_company(groups, group);
    if (comma == std::string_view::npos) return groups;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace ham::detail
