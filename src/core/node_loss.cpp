// The text of ham::node_failure.
#include "core/node_loss.hpp"

#include <utility>

namespace ham::detail {
namespace {

const char* words_for(call_outcome outcome) noexcept {
  switch (outcome) {
    case call_outcome::not_run: return "not run";
    case call_outcome::may_have_run: return "perhaps run";
    case call_outcome::ran: break;
  }
  return "run, but its result is lost";
}

}  // namespace

std::exception_ptr make_node_failure(node_failure::facts facts, const std::string& reason) {
  std::string message = "node " + std::to_string(facts.node) + " failed: " + (reason.empty() ? "lost" : reason) +
                        " (host " + facts.host + (facts.pid < 0 ? "" : ", pid " + std::to_string(facts.pid)) + ")";
  if (!facts.function.empty()) message += "; the call of " + facts.function + " has " + words_for(facts.outcome);
  try {  // make_exception_ptr would turn a bad_alloc of its own into the result
    throw node_failure(message, std::move(facts));
  } catch (const node_failure&) {
    return std::current_exception();
  }
}

}  // namespace ham::detail
