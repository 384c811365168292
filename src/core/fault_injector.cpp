#include "core/fault_injector.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/log.hpp"
#include "core/node_loss.hpp"

namespace ham::inline v1::detail {
namespace {

using base::fault_point;
using base::fault_rule;

/// A rule that names nothing is probably a mistake, but programs of one job may have different functions.
void say_that_nothing_is_named(const fault_rule& rule) {
  static std::atomic<bool> said{false};
  if (said.exchange(true)) return;
  base::log("runtime", base::log_level::warning,
            "HAM_FAULT: no function of this program is named \"%s\" (rule %s); --ham-list-handlers lists them",
            rule.subject.c_str(), rule.text.c_str());
}

}  // namespace

fault_injector::fault_injector(node_t self, std::vector<fault_rule> rules, const msg::handler_table& functions)
    : self_(self),
      rules_(std::move(rules)),
      functions_(functions),
      decided_(std::make_unique<std::atomic<std::uint64_t>[]>(rules_.size())) {
  for_calls_ = std::any_of(rules_.begin(), rules_.end(),
                           [](const fault_rule& one) { return one.point != fault_point::connect; });
  if (!for_calls_) return;
  by_key_.resize(functions.size());
  std::vector<bool> used(rules_.size());
  for (std::uint32_t key = 0; key < functions.size(); ++key) {
    const std::string name = functions.pretty_name(key);
    for (std::size_t i = 0; i < rules_.size(); ++i) {
      if (rules_[i].point == fault_point::connect || !base::names_function(rules_[i].subject, name)) continue;
      by_key_[key].push_back(static_cast<std::uint8_t>(i + 1));
      used[i] = true;
    }
  }
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    if (!used[i] && rules_[i].point != fault_point::connect) say_that_nothing_is_named(rules_[i]);
  }
}

bool fault_injector::strikes(std::size_t rule) noexcept {
  return base::strikes(rules_[rule], rule, self_, decided_[rule].fetch_add(1, std::memory_order_relaxed));
}

fault_decision fault_injector::decide(const msg::handler_entry& function, bool has_reply) noexcept {
  fault_decision result;
  if (function.key() >= by_key_.size()) return result;
  for (const std::uint8_t mark : by_key_[function.key()]) {
    const bool at_reply = rule(mark).point == fault_point::reply;
    if (at_reply && !has_reply) continue;
    if (!strikes(mark - 1U)) continue;
    std::uint8_t& place = at_reply ? result.reply : result.request;
    if (place == 0) place = mark;
  }
  return result;
}

const fault_rule* fault_injector::decide_connection(node_t node, node_t number) noexcept {
  const fault_rule* found = nullptr;
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    if (rules_[i].point != fault_point::connect) continue;
    const std::string& subject = rules_[i].subject;
    if (subject != "*" && subject != std::to_string(node) && subject != std::to_string(number)) continue;
    if (strikes(i) && found == nullptr) found = &rules_[i];
  }
  return found;
}

std::string fault_injector::reason(const fault_rule& by) { return "HAM_FAULT asks for it (rule " + by.text + ")"; }

std::exception_ptr fault_injector::failure(const peer& who, const msg::handler_entry& function, std::uint32_t call,
                                           call_outcome outcome, const fault_rule& by) const {
  const peer_identity::info about = who.about.description();
  node_failure::details details;
  details.node = who.node;
  details.host = about.name;
  details.pid = about.pid;
  details.function = functions_.pretty_name(function.key());
  details.call = call;
  details.outcome = outcome;
  return make_node_failure(std::move(details), reason(by));
}

std::optional<held_reply> fault_injector::take_due(std::int64_t now_ns) {
  const auto due =
      std::find_if(held_.begin(), held_.end(), [&](const held_reply& one) { return one.due_ns <= now_ns; });
  if (due == held_.end()) return std::nullopt;
  std::optional<held_reply> result(std::move(*due));
  held_.erase(due);
  return result;
}

}  // namespace ham::detail
