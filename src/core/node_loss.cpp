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

std::exception_ptr make_node_failure(node_failure::facts info, const std::string& reason) {
  std::string message = "node " + std::to_string(info.node) + " failed: " + (reason.empty() ? "lost" : reason) +
                        " (host " + info.host + (info.pid < 0 ? "" : ", pid " + std::to_string(info.pid)) + ")";
  if (!info.function.empty()) message += "; the call of " + info.function + " has " + words_for(info.outcome);
  try {  // make_exception_ptr would turn a bad_alloc of its own into the result
    throw node_failure(message, std::move(info));
  } catch (const node_failure&) {
    return std::current_exception();
  }
}

}  // namespace ham::detail
