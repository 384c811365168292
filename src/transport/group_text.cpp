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

std::string_view group_text::take_settings() noexcept {
  if (!rest_.starts_with('/')) return {};
  const std::string_view settings = rest_.substr(1, std::min(rest_.find('@'), rest_.size()) - 1);
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
