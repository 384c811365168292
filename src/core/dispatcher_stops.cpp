// Calls that their callers can stop: how they run, and what a stop does to them.
#include <algorithm>
#include <memory>

#include "base/clock.hpp"
#include "base/observed_execution.hpp"
#include "core/batch_records.hpp"
#include "core/dispatcher.hpp"
#include "core/remote_exception.hpp"

namespace ham::inline v1::detail {
namespace {

/// Until when a call may take that came with `left_ns`; 0: for ever.
std::int64_t deadline_of(std::uint64_t left_ns, std::int64_t arrived_ns) noexcept {
  if (left_ns == 0) return base::never_ns;
  const auto most = static_cast<std::uint64_t>(base::never_ns - arrived_ns);
  return left_ns >= most ? base::never_ns : arrived_ns + static_cast<std::int64_t>(left_ns);
}

std::vector<std::byte> not_run(const msg::handler_table& functions, std::uint32_t key, node_t self) noexcept {
  try {
    throw operation_cancelled(functions.pretty_name(key) + " has not run on node " + std::to_string(self) +
                                  " (it was stopped before it began)",
                              call_outcome::not_run);
  } catch (...) {
    return encode_current_exception();
  }
}

}  // namespace

std::shared_ptr<call_stop> dispatcher::list_stoppable(peer& from, frame_header head, std::span<const std::byte> payload,
                                                      std::int64_t arrived_ns) {
  const std::uint64_t left_ns =
      msg::detail::load_little<std::uint64_t>(payload.data() + head.prefix_bytes() - time_left_bytes);
  const transport::stop_word word = from.to == nullptr ? transport::stop_word{} : from.to->stop_word_of(head.id());
  try {
    return stops_.begin(std::make_shared<call_stop>(*node_.stops(), call_stop::origin{of_.owner, &from, head.id()},
                                                    deadline_of(left_ns, arrived_ns), word.word, word.mark));
  } catch (const std::bad_alloc&) {
    refuse(from, head, payload, encode_current_exception());
    return nullptr;
  }
}

/// Without the receiving lock.
void dispatcher::run_stoppable(peer& from, frame_header head, std::span<const std::byte> payload,
                               std::shared_ptr<call_stop> stop) {
  const msg::handler_entry& entry = *of_.functions.find(head.key());
  if (stop->requested_before_begin()) {
    refuse(from, head, payload, not_run(of_.functions, head.key(), of_.self));
    return;
  }
  stoppable_call call;
  call.stop = std::move(stop);
  static_cast<incoming_call&>(call) = {
      of_.owner, &from, payload.subspan(head.prefix_bytes()), head.id(), &entry, nullptr, false, true};
  const base::observed_execution observed({of_.self, from.node, entry.key(), head.id()}, of_.counters);
  const stop_scope scope(call.stop.get());
  try {
    entry.handler(static_cast<incoming_call*>(&call));
  } catch (...) {
    call_failed(call);
  }
}

/// The word that says it says so until it is known otherwise: the thread of a context may be about to begin the call,
/// and asks once.
void dispatcher::cancel(peer& from, std::uint32_t id) {
  if (!from.hello_seen || id == no_reply) throw protocol_error("a stop of no call");
  const auto forget_word = [&] {
    if (from.to != nullptr) from.to->clear_stop_word(id);
  };
  const auto answer = [&](const stored_message& message) {
    forget_word();
    refuse(from, message.head, message.bytes, not_run(of_.functions, message.head.key(), of_.self));
  };
  const auto found = std::find_if(from.deferred.begin(), from.deferred.end(),
                                  [&](const stored_message& one) { return one.head.is_call() && one.head.id() == id; });
  if (found != from.deferred.end()) {
    answer(take_deferred(from, found));
    return;
  }
  if (const auto message = node_.withdraw_from_contexts(from, id)) {
    of_.room.give(message->bytes.size());
    answer(*message);
    from.users.fetch_sub(1, std::memory_order_acq_rel);
    return;
  }
  const std::shared_ptr<call_stop> running = stops_.find(from, id);
  const std::vector<nested_call> nested = running != nullptr ? running->take_nested() : std::vector<nested_call>();
  forget_word();
  if (running == nullptr) return;  // it has ended, or is a batch's
  stopped_node* const node = node_.stops();
  for (const nested_call& call : nested) node->stop_nested_locked(call);
}

}  // namespace ham::detail
