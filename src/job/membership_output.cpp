// Whose output the host captures, and whose it does not.
#include <string>
#include <utility>

#include "base/log.hpp"
#include "base/settings.hpp"
#include "compose/transports.hpp"
#include "job/membership.hpp"
#include "job/output_redirection.hpp"
#include "job/sole_change.hpp"

namespace ham::inline v1::detail {
namespace {

/// For errors.
std::string what_can_be_captured() {
  std::string names;
  for (const transport::factory* const one : transports()) {
    const transport::starting_factory* const by = one->as_starting();
    if (by == nullptr || !by->host_factory().redirects_output()) continue;
    names += (names.empty() ? "" : ", ") + std::string(one->name());
  }
  return "only that of processes which the host itself has started on its machine can be captured: " + names;
}

}  // namespace

/// HAM_OUTPUT asks for all nodes.
void membership::warn_of_own_output(node_t number) {
  if (base::text_of(base::setting::output).empty()) return;
  base::log("job", base::log_level::warning, "node %d keeps its own output, of which HAM_OUTPUT gets nothing (%s)",
            number, what_can_be_captured().c_str());
}

/// Of those that the host is about to start.
void membership::warn_of_own_outputs(const fresh_targets& planned) {
  for (const auto& [number, group, starter] : planned) {
    const transport::starting_factory* const by = group->by->as_starting();
    const bool redirected = by != nullptr && by->host_factory().redirects_output();
    if (starter == 0 && !redirected) warn_of_own_output(number);
  }
}

void membership::on_output(node_t node, offload::output_handler handler) {
  const node_t number = host_.numbers.number_of(node);
  if (number == 0) throw config_error("node 0 is the host, whose output is the program's own");
  target_outputs& outputs = started_.outputs();
  if (!outputs.can_capture(number))
    throw config_error("the output of node " + std::to_string(number) + " cannot be captured (" +
                       what_can_be_captured() + "); redirect it where its process is started");
  // What it executed might ask for the same output, and wait for this thread's turn, or keep the thread that reads it.
  const executing_nothing role(host_);
  const target_outputs::turn mine(outputs, number);
  const bool captures = static_cast<bool>(handler);
  outputs.use(number, std::move(handler));
  if (!captures) return;
  try {
    const output_pipes pipes = outputs.open(number);
    if (pipes.out) redirect_output(number, pipes);  // else it has had pipes from its start on, or for a while
  } catch (const node_failure&) {
    outputs.undo_open(number);
    if (supervisor_.supervises(number)) return;  // its next process is started with pipes
    outputs.use(number, {});
    throw;
  } catch (...) {
    outputs.undo_open(number);
    outputs.use(number, {});
    throw;
  }
}

}  // namespace ham::detail
