// Peers come and go: greeting, agreement on handlers, loss.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "base/clock.hpp"
#include "base/heavy_fence.hpp"
#include "core/batch_records.hpp"
#include "core/greeting.hpp"
#include "ham/msg/codec.hpp"
#include "ham/msg/translation.hpp"
#include "runtime/engine.hpp"
#include "runtime/node_info.hpp"

namespace ham::detail {
namespace {

const msg::manifest& local_manifest() {
  static const msg::manifest manifest = msg::manifest::local();
  return manifest;
}

constexpr std::uint64_t never_sent = UINT64_MAX;  // position of what never left this node

/// Whether a frame is, or belongs to, an answer; what else a lost peer has sent is not executed any more.
bool is_answer(const transport::frame& frame) {
  if (!frame_header::known(frame.head)) return false;
  const frame_header head = frame_header::decode(frame.head);
  transport::fragment_head whole{};
  if (!head.is_fragment() || frame.payload.size() < sizeof whole) return head.is_answer();
  std::memcpy(&whole, frame.payload.data(), sizeof whole);
  const transport::frame_head assembled{0, 0, static_cast<std::uint8_t>(little_endian(whole).kind)};
  return frame_header::known(assembled) && frame_header::decode(assembled).is_answer();
}

}  // namespace

peer_hold engine::peer_for(node_t node) {
  if (peer_hold who = peers_.hold(node)) [[likely]]
    return who;
  if (node < 0 || static_cast<std::size_t>(node) >= peers_.size()) {
    throw call_error("there is no node " + std::to_string(node) + " (this job has nodes 0 to " +
                     std::to_string(peers_.size() - 1) + ") ask for more with HAM_NODES or --ham-nodes");
  }
  peer_hold claimed;
  locked([&] {
    if (peer* const one = peers_.claim(node)) claimed = peer_hold(*one);
  });
  if (claimed) return claimed;
  node_failure::details details;
  details.node = node;
  details.outcome = call_outcome::not_run;
  throw node_failure("node " + std::to_string(node) + " failed: it has left the job", std::move(details));
}

/// The peer, once it is connected and greeted.
peer_hold engine::make_ready(node_t node) {
  peer_hold who = peer_for(node);
  peer_state expected = peer_state::unknown;
  std::int64_t until_ns = base::never_ns;
  // When the job ends, destructors of objects may still call; who has left answers nobody.
  const bool ends = stop_.load() || leaving_.load();
  if (ends) until_ns = base::now_ns() + 500'000'000;
  if (who->state.compare_exchange_strong(expected, peer_state::connecting)) {
    if (ends)
      on_lost(node, "the job has ended");
    else if (job_ != nullptr)
      until_ns = job_->connect(node);
    else
      transports_.connect(node);
  }
  if (!await_greeting(*who, until_ns)) on_lost(node, "it did not connect in time; look at its output");
  await_greeting(*who, base::never_ns);
  if (who->state.load() == peer_state::lost) throw_lost(*who, nullptr, call_outcome::not_run);
  return who;
}

// ---- news from transports, from any thread

/// There was no memory for the answer to calls of this node to itself. Any thread.
void engine::leave_unanswered(frame_header head, std::span<const std::byte> bytes) noexcept {
  if (head.is_reply()) calls_.mark_unanswered(head.id());
  if (head.kind() == wire_kind::batch_reply) {
    for (; !bytes.empty(); bytes = bytes.subspan(batch_result(bytes).size()))
      calls_.mark_unanswered(batch_result(bytes).call);
  }
  events_.report_without_memory();
}

void engine::on_connected(transport::endpoint& with) { events_.report_connected(with); }
void engine::on_broken(node_t peer, const std::string& reason) {
  events_.report_end(peer, peer_end::connection_broken, reason);
}
void engine::on_lost(node_t peer, const std::string& reason) {
  events_.report_end(peer, peer_end::connection_lost, reason);
}
void engine::on_died(node_t peer, const std::string& reason) {
  events_.report_end(peer, peer_end::process_died, reason);
}

/// Whoever else has the receiving lock does it before it sleeps.
void engine::take_notice() {
  if (!waiter_.try_lock()) return;
  handle_events();
  finish_progress();
}

bool engine::handle_events() noexcept {
  const bool any =
      events_.handle_all([this](peer_event& one) { handle(one); }, [this] { calls_.fail_unanswered(no_memory_); });
  return settled_.settle_all([this](call_slot& slot, slot_state outcome) { calls_.settle(slot, outcome); }) || any;
}

void engine::handle(peer_event& what) noexcept {
  if (what.connected == nullptr) {
    if (!peers_.has(what.lost)) return;
    lost(peers_[what.lost], std::move(what.reason), what.how);
    // A host that only sent nonsense is not served any more, but this process ends with it and not before.
    if (what.how != peer_end::connection_broken && what.lost == 0 && self_ != 0)
      stop_.store(true, std::memory_order_release);
    return;
  }
  try {
    connected(*what.connected);
  } catch (const std::bad_alloc&) {
    const node_t node = what.connected->peer();
    what.connected->close({});
    if (peers_.has(node)) lost(peers_[node], "no memory left", peer_end::connection_lost);
  }
}

void engine::connected(transport::endpoint& with) {
  const node_t node = with.peer();
  if (node < 0 || !peers_.grow_to(static_cast<std::size_t>(node) + 1)) return;
  if (peer& before = peers_.at_place_of(node); before.node >= 0 && before.node != node)
    lost(before, "another node has its place in the job", peer_end::process_died);
  peer* const claimed = peers_.claim(node);
  if (claimed == nullptr) return;
  peer& who = *claimed;
  if (who.state.load() == peer_state::lost && who.to == nullptr) {  // before it was connected
    with.close(who.about.loss());
    who.to = &no_endpoint::instance();
    transports_.forget(with);
    return;
  }
  if (who.to != nullptr) {  // a number is connected once
    with.close("this node has met it before");
    transports_.forget(with);
    return;
  }
  who.to = &with;
  who.memory = with.memory();
  who.max_payload = with.max_payload();
  who.fragments.limit(message_limit_);
  with.user = &who;
  who.state.store(peer_state::greeting, std::memory_order_release);
  send_hello(who);
}

// ---- greeting

void engine::send_hello(peer& to) {
  const greeting mine{local_manifest().id(), own_.about.description(), address_, message_limit_};
  reply_with(to, frame_header::of(wire_kind::hello), mine.encode());
}

void engine::receive_hello(peer& from, std::span<const std::byte> payload) {
  if (from.hello_seen) throw protocol_error("a second greeting");
  greeting theirs = greeting::decode(payload);
  theirs.node.transport = from.to->medium;
  theirs.node.node = from.node;
  from.hello_seen = true;
  from.max_message = theirs.max_message;
  from.about.introduce(std::move(theirs.node), std::move(theirs.address));
  if (theirs.manifest == local_manifest().id()) {
    become_ready(from);
  } else {
    reply_with(from, frame_header::of(wire_kind::manifest), local_manifest().serialise());
  }
}

void engine::receive_manifest(peer& from, std::span<const std::byte> payload) {
  if (!from.hello_seen || from.state.load() != peer_state::greeting) throw protocol_error("a manifest out of turn");
  from.translation = std::make_unique<msg::translation>(local_manifest(), msg::manifest::parse(payload));
  become_ready(from);
}

void engine::become_ready(peer& who) {
  who.sending.lock();
  if (const auto* const memory = who.to->long_messages())  // which it has mapped before it sent its greeting
    who.max_payload = std::min(who.max_payload, memory->min_size() - 1);
  who.sending.unlock();
  who.state.store(peer_state::ready, std::memory_order_release);
  waiter_.wake_finished();
}

// ---- loss

void engine::fail_peer(peer& who, const std::string& why) noexcept {
  if (who.node != self_ && who.failed.exchange(true)) return;
  try {
    const std::string reason = "the connection was closed because it sent " + why;
    if (!leaving_.load()) std::fprintf(stderr, "ham: node %d: node %d: %s\n", self_, who.node, reason.c_str());
    if (who.node == self_) return;
    // It is told, so that its pending calls settle.
    std::vector<std::byte> farewell(why.size());
    std::memcpy(farewell.data(), why.data(), why.size());
    if (who.state.load() != peer_state::lost) reply_with(who, frame_header::of(wire_kind::goodbye), farewell);
    on_broken(who.node, reason);
  } catch (const std::bad_alloc&) {
    events_.report_end(who.node, peer_end::connection_broken, {});
  }
}

/// The receiving lock is held.
void engine::lost(peer& who, std::string reason, peer_end how) noexcept {
  if (who.state.load() == peer_state::lost || who.node == self_) return;
  if (who.to != nullptr && who.to->state() == transport::endpoint_state::open) {
    // What it answered before it went still counts.
    transport::frame frame;
    for (int i = 0; i < 100'000 && who.to->poll(frame); ++i) {
      if (!is_answer(frame))
        who.to->release();
      else
        receive(*who.to, frame);
    }
    if (who.state.load() == peer_state::lost) return;
  }
  who.about.set_loss(std::move(reason));
  who.lost_at_ns.store(base::now_ns(), std::memory_order_relaxed);
  who.state.store(peer_state::lost, std::memory_order_release);
  who.fragments.clear();  // what is not whole by now will never be
  transport::endpoint* const gone = who.to;
  if (gone != nullptr) {
    mark_unsent(who.disconnect());
  }
  settle_lost(who, gone, how);
  if (gone != nullptr) transports_.forget(*gone);
  waiter_.wake_finished();
}

/// What is still in the outbox of a lost peer never left this node, or not all of it, which is executed by nobody.
void engine::mark_unsent(const message_list& messages) noexcept {
  const auto mark = [this](std::uint32_t call) {
    call_slot* const slot = call == no_reply ? nullptr : calls_.find(call);
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
void engine::settle_lost(peer& who, const transport::endpoint* gone, peer_end how) noexcept {
  std::uint64_t taken = UINT64_MAX;
  if (how == peer_end::process_died && gone != nullptr) {
    // Threads of the killed process that still run on other cores pass through the kernel, and do not come back.
    base::heavy_fence();
    taken = gone->consumed();
  }
  calls_.fail_all_of(who.node, [&](call_slot& slot) {
    const auto outcome = taken <= slot.position ? call_outcome::not_run : call_outcome::may_have_run;
    return loss_of(who, slot.function, slot.id, outcome);
  });
}

std::exception_ptr engine::loss_of(peer& who, const msg::handler_entry* function, std::uint32_t call,
                                   call_outcome outcome) noexcept {
  try {
    return describe_loss(who, function, call, outcome);
  } catch (const std::bad_alloc&) {
    return nameless_loss_;
  }
}

std::exception_ptr engine::describe_loss(peer& who, const msg::handler_entry* function, std::uint32_t call,
                                         call_outcome outcome) {
  node_failure::details details;
  details.node = who.node;
  details.host = own_.about.host();  // it has told nothing, so it was started here
  details.pid = transports_.peer_pid(who.node);
  details.function = function == nullptr ? "" : table_->pretty_name(function->key());
  details.call = call;
  details.outcome = outcome;
  return who.about.failure(std::move(details));
}

std::int64_t engine::local_process(const peer& who) const {
  const std::int64_t started = transports_.peer_pid(who.node);  // may be a wrapper around it
  const std::int64_t told = who.about.pid();
  return started >= 0 && told >= 0 ? told : started;
}

void engine::part_with(node_t node, const std::string& reason) {
  const peer_hold who = peer_for(node);
  if (who->state.load() == peer_state::ready) reply_with(*who, frame_header::of(wire_kind::goodbye), {});
  std::string why = reason;
  waiter_.lock();
  lost(*who, std::move(why), peer_end::connection_lost);
  finish_progress();
}

void engine::throw_lost(peer& who, const msg::handler_entry* function, call_outcome outcome) {
  std::rethrow_exception(loss_of(who, function, 0, outcome));
}

}  // namespace ham::detail
