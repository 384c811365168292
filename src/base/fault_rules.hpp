// The rules of HAM_FAULT: which calls and connections fail on purpose, how, and how often.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ham::inline v1::base {

/// Where a fault strikes: before a call leaves, when its reply has arrived, when a node is connected.
enum class fault_point : std::uint8_t { request, reply, connect };
/// fail: this call alone. drop: the connection to its node. kill: the process of its node. delay: it takes longer.
enum class fault_action : std::uint8_t { fail, drop, kill, delay };

struct fault_rule {
  std::string subject;  ///< a pattern for names of functions; of connections a node, or "*"
  fault_point point = fault_point::request;
  fault_action action = fault_action::fail;
  std::int64_t delay_ns = 0;
  double probability = 0;
  std::uint64_t seed = 0;
  std::string text;  ///< the rule as it was written
};

/// What HAM_FAULT may be, for errors and for help.
inline constexpr const char* fault_grammar =
    "FUNCTION:request|reply[=fail|drop|kill|TIME]:PROBABILITY[:SEED] or NODE:connect:PROBABILITY[:SEED], several "
    "separated by semicolons";
/// The place of a rule has to fit into 7 bits of a pending call, 0 for none.
inline constexpr std::size_t max_fault_rules = 100;

/// The rules in a text; none in an empty one. `source` is where it is from, for the error: "HAM_FAULT". Throws
/// ham::config_error.
[[nodiscard]] std::vector<fault_rule> parse_faults(std::string_view text, const std::string& source);

/// Whether a pattern, in which * stands for any text and ? for any character, is that of the text.
[[nodiscard]] bool matches_pattern(std::string_view pattern, std::string_view text) noexcept;

/// Whether a pattern is that of a function, by its name as people read it: "solve(double) [pooled]" with its policies,
/// without them, or without its parameters; a key ("\"solve\"") without its quotation marks, too.
[[nodiscard]] bool names_function(std::string_view pattern, std::string_view name) noexcept;

/// The n-th decision of a rule on a node, counted from 0: the same in every run.
[[nodiscard]] bool strikes(const fault_rule& rule, std::size_t place, std::int64_t node, std::uint64_t n) noexcept;

}  // namespace ham::base
