// The text of ham::node_failure.
#include "core/node_loss.hpp"

#include <unistd.h>

#include <utility>

#include "ham/msg/names.hpp"

namespace ham::inline v1::detail {
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

std::exception_ptr make_node_failure(node_failure::details details, const std::string& reason,
                                     const std::string& last_events) {
  std::string message = "node " + std::to_string(details.node) + " failed: " + (reason.empty() ? "lost" : reason) +
                        " (host " + details.host + (details.pid < 0 ? "" : ", pid " + std::to_string(details.pid)) +
                        ")";
  if (!details.function.empty()) message += "; the call of " + details.function + " has " + words_for(details.outcome);
  if (!last_events.empty()) message += "; " + last_events;
  try {  // make_exception_ptr would turn a bad_alloc of its own into the result
    throw node_failure(message, std::move(details));
  } catch (const node_failure&) {
    return std::current_exception();
  }
}

void throw_ending(node_t self, const std::string& why, node_failure::details what) {
  what.node = self;
  what.pid = ::getpid();
  throw ending_failure("node " + std::to_string(self) + " failed: " + why, std::move(what));
}

node_t ending_process(const std::exception_ptr& why) noexcept {
  if (why == nullptr) return -1;
  try {
    std::rethrow_exception(why);
  } catch (const ending_failure& failure) {
    return failure.node();
  } catch (...) {
    return -1;
  }
}

std::string name_of_thrown(const std::type_info& type) {
  return msg::canonical_name((type == typeid(ending_failure) ? typeid(node_failure) : type).name());
}

}  // namespace ham::detail
