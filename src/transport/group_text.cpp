// Counts, cores and complaints that the groups of all transports have in common.
#include "transport/group_text.hpp"

#include <algorithm>

#include "base/core_list.hpp"
#include "base/numbers.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::transport {

void group_text::refuse(const std::string& why) const {
  throw config_error("HAM_NODES=\"" + std::string(all_) + "\": cannot use \"" + std::string(part_) + "\" (" + why +
                     ") " + advice_());
}

std::size_t group_text::count_at(std::string_view& text, const char* after) const {
  const auto count = base::take_number(text);
  if (!count) refuse(std::string("a number of targets must follow the ") + after);
  if (*count > max_targets) refuse("at most " + std::to_string(max_targets) + " targets");
  return *count;
}

void group_text::expect_end(std::string_view rest) const {
  if (!rest.empty()) refuse("\"" + std::string(rest) + "\" is left over");
}

std::size_t group_text::take_count(std::size_t unsaid) {
  if (!rest_.starts_with(':')) return unsaid;
  skip(1);
  return count_at(rest_, "colon");
}

std::size_t group_text::take_times() {
  if (!rest_.starts_with('*')) return 1;
  skip(1);
  return count_at(rest_, "star");
}

/// Of two values of one key, one would be ignored, and which one is a guess.
void group_text::expect_each_key_once(std::string_view settings) const {
  std::vector<std::string_view> before;
  for (std::size_t at = 0; at <= settings.size();) {
    const std::string_view one = settings.substr(at, settings.find('/', at) - at);
    if (one.empty()) refuse("no setting follows a \"/\": leave that away, or write KEY=VALUE behind it");
    const std::string_view key = one.substr(0, one.find('='));
    for (const std::string_view other : before) {
      if (key != other.substr(0, other.find('='))) continue;
      refuse("it sets \"" + std::string(key) + "\" twice, as \"" + std::string(other) + "\" and as \"" +
             std::string(one) + "\": leave one of them away");
    }
    before.push_back(one);
    at += one.size() + 1;
  }
}

std::string_view group_text::take_settings() {
  if (!rest_.starts_with('/')) return {};
  const std::string_view settings = rest_.substr(1, std::min(rest_.find('@'), rest_.size()) - 1);
  expect_each_key_once(settings);
  skip(settings.size() + 1);
  return settings;
}

std::vector<int> group_text::take_cores() {
  if (!rest_.starts_with('@')) return {};
  const std::string_view cores = rest_.substr(1);
  rest_ = {};
  return base::parse_cores(cores, '+');
}

void group_text::expect_no_cores() const {
  if (rest_.starts_with('@')) refuse("only targets that are started here can be given cores");
}

}  // namespace ham::transport
