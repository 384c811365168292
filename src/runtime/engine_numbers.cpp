// Numbers of nodes that are started again when they die: which process a call goes to, and whose a handle is.
#include <algorithm>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "runtime/engine.hpp"

namespace ham::inline v1::detail {
namespace {

constexpr std::int64_t news_timeout_ns = 5'000'000'000;  // for the host's word of a process whose loss is known here

std::exception_ptr failure_of(node_t number, const std::string& why) {
  node_failure::details details;
  details.node = number;
  details.outcome = call_outcome::not_run;
  return std::make_exception_ptr(node_failure(why, std::move(details)));
}

/// On nodes other than the host, which know no reason. The process may be there still, but no call is for it.
std::string text_of_unprepared(node_t number) {
  return "node " + std::to_string(number) +
         " is not started again: it was given up, or removed from the job, before another process of it was known to "
         "be ready, or the job ends";
}

}  // namespace

bool engine::is_lost(node_t process) const noexcept {
  const peer_hold who = peers.hold(process);
  return who && who->state.load(std::memory_order_acquire) == peer_state::lost;
}

/// Contexts, and what else handles name, are those of one process.
node_t engine::process_of_supervised(const call_place& to, const wait_limit& limit) {
  const node_t node = without_exact_bit(to.node);
  if (to.context == 0 && node == to.node) return await_process(node, limit);
  refuse_old_handle(node);
  return node;
}

node_t engine::await_process(node_t number, const wait_limit& limit) {
  for (;;) {
    if (events.pending()) take_notice();
    const std::uint64_t seen = numbers.version();
    const replacements::state now = numbers.of(number);
    if (now.prepared) return now.process;
    const bool restarting = now.now == replacements::phase::restarting;
    if (now.now == replacements::phase::given_up && (!now.reason.empty() || !now.was_up))
      std::rethrow_exception(failure_of(number, now.reason.empty() ? text_of_unprepared(number) : now.reason));
    if (!now.supervised || now.now == replacements::phase::given_up || (!restarting && !is_lost(now.process)))
      return now.process;
    const auto decided = [&] { return numbers.version() != seen || stop_.load() || leaving_.load(); };
    // The host knows at once; to others its word may be on its way.
    const std::int64_t until_ns = restarting ? base::never_ns : base::now_ns() + news_timeout_ns;
    if (wait_within(limit, decided, until_ns) && !stop_.load() && !leaving_.load()) continue;
    return limit.reached() ? -1 : now.process;  // a call to it fails, with the reason
  }
}

node_t engine::process_of_handle(const offload::destination& on, const std::stop_token* token) {
  const wait_limit limit{on.deadline_ns, token};
  const node_t process = process_of(on.node, limit);
  if (process >= 0 || on.node < 0) return process;
  if (!limit.late())
    throw operation_cancelled(
        "node " + std::to_string(on.node) + " was asked for nothing (a stop came before it was started again)",
        call_outcome::not_run);
  throw deadline_exceeded("node " + std::to_string(on.node) +
                              " was not started again before the deadline, and was asked for nothing; allow more time",
                          call_outcome::not_run);
}

node_t engine::number_of_replaced(node_t process) const {
  const replacements::state now = numbers.of(process);
  const node_t number = now.supervised ? process : numbers.number_of(process);
  const replacements::state today = now.supervised ? now : numbers.of(number);
  return today.supervised && (today.process != process || is_lost(process)) ? number : -1;
}

void engine::refuse_old_handle(node_t node) {
  const node_t number = number_of_replaced(node);
  if (number < 0) return;
  std::rethrow_exception(failure_of(
      number,
      "node " + std::to_string(number) +
          " has died and is started again: what the process before had (memory, contexts, objects) is gone, and "
          "this handle is of it; make it anew, for example in supervision::on_respawn"));
}

void refuse_handle_of(engine& at, node_t node) {
  const node_t number = at.number_of_replaced(node);
  if (number < 0) return;
  throw buffer_error(
      "an argument of a call is memory of a process of node " + std::to_string(number) +
      " that has died (what it had is gone, and another process has something else there); give the call "
      "memory of the next one, for example what supervision::on_respawn has allocated");
}

}  // namespace ham::detail
