// A call of which it is not known that it did not run may have run: losses are told from what the transport knows.
#include "core/connections.hpp"

#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/heavy_fence.hpp"
#include "base/log.hpp"
#include "core/batch_records.hpp"

namespace ham::inline v1::detail {
namespace {

constexpr std::uint64_t never_sent = UINT64_MAX;  // position of what never left this node

}  // namespace

connections::connections(connected_node& node, const parts& of)
    : node_(node),
      of_(of),
      nameless_loss_(std::make_exception_ptr(node_failure("a node failed (there is no memory left to say more)", {}))) {
}

void connections::handle(peer_event& what) noexcept {
  if (what.connected == nullptr) {
    if (!of_.peers.has(what.lost)) return;
    lose(of_.peers[what.lost], std::move(what.reason), what.how);
    // A host that only sent nonsense is not served any more, but this process ends with it and not before.
    if (what.how != peer_end::connection_broken && node_.ends_with(what.lost)) node_.lose_host();
    return;
  }
  try {
    connect(*what.connected);
  } catch (const std::bad_alloc&) {
    const node_t node = what.connected->peer();
    what.connected->close({});
    if (of_.peers.has(node)) lose(of_.peers[node], "no memory left", peer_end::connection_lost);
  }
}

void connections::connect(transport::endpoint& with) {
  const node_t node = with.peer();
  if (node < 0 || !of_.peers.grow_to(static_cast<std::size_t>(node) + 1)) return;
  if (peer& before = of_.peers.at_place_of(node); before.node >= 0 && before.node != node)
    lose(before, "another node has its place in the job", peer_end::process_died);
  peer* const claimed = of_.peers.claim(node);
  if (claimed == nullptr) return;
  peer& who = *claimed;
  const base::fault_rule* const by =
      of_.faults == nullptr ? nullptr : of_.faults->decide_connection(node, node_.supervised_number(node));
  if (by != nullptr) {
    lose(who, fault_injector::reason(*by), peer_end::connection_lost);
    if (node_.ends_with(node)) node_.lose_host();
  }
  if (who.state.load() == peer_state::lost && who.to == nullptr) {  // before it was connected
    with.close(who.about.loss());
    who.to = &no_endpoint::instance();
    of_.transports.forget(with);
    return;
  }
  if (who.to != nullptr) {  // a number is connected once
    with.close("this node has met it before");
    of_.transports.forget(with);
    return;
  }
  who.to = &with;
  who.memory = with.memory();
  who.copies_mapped = with.peer_copies_mapped();
  who.max_payload = with.max_payload();
  who.fragments.limit(of_.greetings.message_limit());
  with.user = &who;
  who.state.store(peer_state::greeting, std::memory_order_release);
  of_.greetings.greet(who);
}

void connections::fail(peer& who, const std::string& why) noexcept {
  if (who.node != of_.own.node && who.failed.exchange(true)) return;
  try {
    const std::string reason = "the connection was closed because it sent " + why;
    if (!node_.leaving())
      base::log("runtime", base::log_level::error, "node %d: node %d: %s", of_.own.node, who.node, reason.c_str());
    if (who.node == of_.own.node) return;
    // It is told, so that its pending calls settle.
    std::vector<std::byte> farewell(why.size());
    std::memcpy(farewell.data(), why.data(), why.size());
    if (who.state.load() != peer_state::lost)
      of_.replies.reply_with(who, frame_header::of(wire_kind::goodbye), farewell);
    of_.events.report_end(who.node, peer_end::connection_broken, reason);
  } catch (const std::bad_alloc&) {
    of_.events.report_end(who.node, peer_end::connection_broken, {});
  }
}

/// What it answered before it went still counts.
void connections::receive_last_answers(peer& who) noexcept {
  constexpr int max_frames = 100'000;
  constexpr std::size_t max_bytes = std::size_t{1} << 30;  // a connection holds less, unless somebody goes on writing
  if (who.to == nullptr || who.to->state() != transport::endpoint_state::open) return;
  if (!who.hello_seen) return;  // it has answered nothing, and what follows its greeting makes no sense without that
  transport::frame frame;
  std::size_t bytes = 0;
  for (int i = 0; i < max_frames && bytes < max_bytes && who.to->poll(frame); ++i) {
    bytes += frame.payload.size();
    if (message_receiver::outlives_sender(frame))
      of_.receiver.receive(*who.to, frame);
    else
      who.to->release();
  }
}

void connections::lose(peer& who, std::string reason, peer_end how) noexcept {
  if (who.state.load() == peer_state::lost || who.node == of_.own.node) return;
  who.end_shared_reading();  // also of its last answers
  receive_last_answers(who);
  if (who.state.load() == peer_state::lost) return;
  const last_events last = last_events_before(who, how);
  who.about.set_loss(std::move(reason), how == peer_end::left, last.text);
  // The host's user is told of what died in mid-work, whether or not somebody waits for it.
  const bool is_news = last.busy && of_.own.node == 0 && !node_.leaving();
  base::log("runtime", is_news ? base::log_level::warning : base::log_level::info, "node %d %s: %s%s%s", who.node,
            how == peer_end::left ? "has left" : "is lost", who.about.loss().c_str(), last.text.empty() ? "" : "; ",
            last.text.c_str());
  who.lost_at_ns.store(base::now_ns(), std::memory_order_relaxed);
  who.state.store(peer_state::lost, std::memory_order_release);
  who.fragments.clear();  // what is not whole by now will never be
  transport::endpoint* const gone = who.to;
  if (gone != nullptr) {
    mark_unsent(who.disconnect());
  }
  fail_calls_to(who, gone, how);
  if (gone != nullptr) of_.transports.forget(*gone);
  node_.after_loss(who.node, who.about.loss(), how);
  of_.lock.wake_finished();
}

/// Empty: nobody can know, or there is no memory to say it.
last_events connections::last_events_before(const peer& who, peer_end how) const noexcept {
  if (how != peer_end::process_died) return {};
  try {
    return last_events_of(who.node, of_.transports.recorded_by(who.node));
  } catch (const std::bad_alloc&) {
    return {};
  }
}

/// What is still in the outbox of a lost peer never left this node, or not all of it, which is executed by nobody.
void connections::mark_unsent(const message_list& messages) noexcept {
  const auto mark = [this](std::uint32_t call) {
    call_slot* const slot = call == no_reply ? nullptr : of_.calls.find(call);
    if (slot != nullptr && slot->reply_due.load(std::memory_order_acquire)) slot->position = never_sent;
  };
  for (const transport::outbound& one : messages) {
    const frame_header head = frame_header::decode(one.head);
    if (head.is_call()) mark(head.id());
    if (!head.is_batch()) continue;
    std::span<const std::byte> records = one.view().subspan(head.prefix_bytes());
    for (std::uint32_t i = 0; i < head.calls(); ++i) {
      const batch_record next(records);
      mark(next.call);
      records = records.subspan(next.size());
    }
  }
}

/// Repeating a call that runs after all is worse than not repeating one that did not: what the process has not taken is
/// known not to run only if it is dead.
void connections::fail_calls_to(peer& who, const transport::endpoint* gone, peer_end how) noexcept {
  std::uint64_t taken = UINT64_MAX;
  if (how == peer_end::process_died && gone != nullptr) {
    // Threads of the killed process that still run on other cores pass through the kernel, and do not come back.
    base::heavy_fence();
    taken = gone->consumed();
  }
  of_.calls.fail_all_of(who.node, [&](call_slot& slot) {
    const auto outcome = taken <= slot.position ? call_outcome::not_run : call_outcome::may_have_run;
    return loss_of(who, slot.function, slot.id, outcome);
  });
}

std::exception_ptr connections::loss_of(peer& who, const msg::handler_entry* function, std::uint32_t call,
                                        call_outcome outcome) const noexcept {
  try {
    return describe_loss(who, function, call, outcome);
  } catch (const std::bad_alloc&) {
    return nameless_loss_;
  }
}

std::exception_ptr connections::describe_loss(peer& who, const msg::handler_entry* function, std::uint32_t call,
                                              call_outcome outcome) const {
  node_failure::details details;
  details.node = who.node;
  details.host = of_.own.about.host();  // it has told nothing, so it was started here
  details.pid = of_.transports.peer_pid(who.node);
  details.function = function == nullptr ? "" : of_.functions.pretty_name(function->key());
  details.call = call;
  details.outcome = outcome;
  return who.about.failure(std::move(details));
}

std::int64_t connections::local_process(const peer& who) const {
  const std::int64_t started = of_.transports.peer_pid(who.node);  // may be a wrapper around it
  const std::int64_t told = who.about.pid();
  return started >= 0 && told >= 0 ? told : started;
}

}  // namespace ham::detail
