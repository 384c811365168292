// Faults that HAM_FAULT asks for: which calls they strike, and replies that it holds back. Without rules nothing of
// this is reached: calls come here by the branch that functions take whose keys need a translation, replies by that of
// replies which nobody waits for.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <vector>

#include "base/fault_rules.hpp"
#include "core/peer.hpp"
#include "ham/msg/handler_table.hpp"

namespace ham::inline v1::detail {

/// What is to happen to a call: places of rules, from 1; 0: nothing.
struct fault_decision {
  std::uint8_t request = 0;
  std::uint8_t reply = 0;
  explicit operator bool() const noexcept { return request != 0 || reply != 0; }
};

/// Places of rules fit into the 7 bits of call_slot::fault.
inline constexpr std::uint8_t max_fault_mark = 0x7f;
static_assert(base::max_fault_rules <= max_fault_mark);

/// Leaves the path of a call that is about to be sent; nothing was reserved for it.
struct fault_hit {
  fault_decision what;
  node_t process;  ///< that it would have gone to: a supervised number may have another one
};

/// A reply that has arrived and is not handled yet.
struct held_reply {
  node_t from;
  std::uint32_t call;
  bool failed;
  std::int64_t due_ns;
  std::vector<std::byte> bytes;
};

class fault_injector {
 public:
  /// `self`: the node, whose decisions differ from those of others. Rules for functions that `functions` lacks are told
  /// on stderr, once per process.
  fault_injector(node_t self, std::vector<base::fault_rule> rules, const msg::handler_table& functions);

  // ---- any thread
  /// Whether there are rules for calls.
  [[nodiscard]] bool for_calls() const noexcept { return for_calls_; }
  /// Each rule that names the function decides once. Of the rules of one point the first that strikes counts.
  [[nodiscard]] fault_decision decide(const msg::handler_entry& function, bool has_reply) noexcept;
  /// The rule that a connection to `node` fails by; nullptr: none. `number`: the supervised one whose process it is;
  /// else `node`. Rules name either.
  [[nodiscard]] const base::fault_rule* decide_connection(node_t node, node_t number) noexcept;
  /// `mark`: a place from a decision.
  [[nodiscard]] const base::fault_rule& rule(std::uint8_t mark) const noexcept { return rules_[mark - 1U]; }
  /// What a rule says of itself in errors.
  [[nodiscard]] static std::string reason(const base::fault_rule& by);
  /// The error of a call that a rule makes fail.
  [[nodiscard]] std::exception_ptr failure(const peer& who, const msg::handler_entry& function, std::uint32_t call,
                                           call_outcome outcome, const base::fault_rule& by) const;

  // ---- the receiving lock is held
  void hold(held_reply reply) { held_.push_back(std::move(reply)); }
  [[nodiscard]] bool holds_replies() const noexcept { return !held_.empty(); }
  /// One that is due, in the order of their arrival.
  [[nodiscard]] std::optional<held_reply> take_due(std::int64_t now_ns);

 private:
  [[nodiscard]] bool strikes(std::size_t rule) noexcept;

  const node_t self_;
  const std::vector<base::fault_rule> rules_;
  const msg::handler_table& functions_;
  std::unique_ptr<std::atomic<std::uint64_t>[]> decided_;  ///< how often, of each rule
  std::vector<std::vector<std::uint8_t>> by_key_;          ///< the rules that name each function
  bool for_calls_ = false;
  std::vector<held_reply> held_;
};

}  // namespace ham::detail
