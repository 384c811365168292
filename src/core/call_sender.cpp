// A call is built where the transport reads it; behind a message that waits for room everything queues.
#include "core/call_sender.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "base/clock.hpp"
#include "base/recorder.hpp"
#include "base/tracer.hpp"
#include "core/call_stops.hpp"
#include "core/deadline_errors.hpp"
#include "core/outbox_message.hpp"
#include "core/pool_wait.hpp"
#include "core/replacements.hpp"
#include "core/thread_state.hpp"
#include "core/wire.hpp"
#include "ham/msg/codec.hpp"
#include "ham/offload/detail/call_message.hpp"
#include "ham/offload/stop.hpp"

namespace ham::inline v1::detail {
namespace {

void batch_marker() {}

/// Stands for a whole batch where a function is asked for; does nothing.
msg::handler_entry& batch_entry() { return call_of<fn_t<void (*)(), &batch_marker>>::message::entry(); }

/// A call that is to suffer a fault has no key yet; this says which one until it has.
constexpr std::uint32_t first_key_of_fault = 0xffff0000;
/// The same of a call to a node that is to be asked for its functions before.
constexpr std::uint32_t key_to_ask_for = 0xffffffff;
struct must_ask {};
std::uint32_t key_of_fault(fault_decision what) noexcept {
  return first_key_of_fault | static_cast<std::uint32_t>(what.request) << 8U | what.reply;
}
fault_decision fault_of_key(std::uint32_t key) noexcept {
  return {static_cast<std::uint8_t>(key >> 8U & max_fault_mark), static_cast<std::uint8_t>(key & max_fault_mark)};
}

}  // namespace

peer* call_sender::make_ready_and_lock(const call_place& to, const msg::handler_entry& function,
                                       const wait_limit& limit) {
  const node_t process = node_.process_for(to, limit);
  if (process < 0 && process != to.node) return nullptr;
  const peer_hold who = node_.make_ready(process, limit);
  if (!who) return nullptr;
  who->sending.lock();
  if (who->state.load(std::memory_order_acquire) == peer_state::ready) return &*who;
  who->sending.unlock();
  std::rethrow_exception(node_.loss_of(*who, &function, 0, call_outcome::not_run));  // lost in between
}

call_slot& call_sender::claim_for(peer& to, msg::handler_entry& function, result_decoder decode,
                                  std::int64_t deadline_ns) {
  call_slot& slot = of_.calls.claim();
  slot.decode = decode;
  slot.function = &function;
  slot.position = to.to->sent();
  slot.deadline_ns = deadline_ns;
  if (deadline_ns != 0 && this_thread.owned_depth == this_thread.depth) [[unlikely]] {
    this_thread.owned_depth = thread_state::no_depth;  // of this call, and none that its codecs make
    slot.deadline_ns = 0;
  }
  slot.node.store(to.node, std::memory_order_release);
  slot.state.store(slot_state::pending, std::memory_order_release);
  return slot;  // no reply is due before finish: until then cancel may give the slot back
}

/// Waits a little for room in the queue to a peer: executes what arrives meanwhile.
void call_sender::make_room(room_wait& pause) {
  if (node_.progress()) {
    pause.reset();
    return;
  }
  if (node_.oversubscribed()) pause.skip_spins();
  if (pause.next() != room_wait::step::sleep) {
    pause.wait();
    return;
  }
  msg::thread_pool::waiting in_pool;  // the peer computes, or is stopped: it may wait for a job behind this one
  pause.wait();
  help_pool(in_pool);
}

/// The peer's key of a function. Throws fault_hit, once, if the call is to suffer a fault: `out.to` says that this has
/// been decided.
[[gnu::always_inline]] inline std::uint32_t call_sender::key_of(peer& who, msg::handler_entry& function,
                                                                result_decoder decode, call_room& out) {
  return who.key_or(function, plain_keys_, [&] { return special_key(who, function, decode, out); });
}

std::uint32_t call_sender::special_key(peer& who, msg::handler_entry& function, result_decoder decode, call_room& out) {
  const bool asks = who.node != of_.self && &function != node_.asking_function();
  if (asks && who.must_be_asked_for(function, known_keys_)) throw must_ask{};  // before a fault is decided, once a call
  const bool may_fail = of_.faults != nullptr && who.node != of_.self && &function != &batch_entry();
  if (may_fail && out.to == nullptr) {
    out.to = &who;
    if (const fault_decision what = of_.faults->decide(function, decode != nullptr)) throw fault_hit{what, who.node};
  }
  return who.key_for(function, known_keys_, of_.self);
}

std::uint32_t call_sender::key_on(peer& who, msg::handler_entry& function, std::int64_t deadline_ns) {
  who.sending.lock();
  const bool asks = who.node != of_.self && who.must_be_asked_for(function, known_keys_);
  who.sending.unlock();
  if (asks) {
    node_.ask_for_functions(who.node, deadline_ns);
    if (deadline_ns != 0 && base::now_ns() >= deadline_ns)
      std::rethrow_exception(missed_call(of_.functions, who.node, function));
  }
  who.sending.lock();
  const std::unique_lock guard(who.sending, std::adopt_lock);
  return who.key_for(function, known_keys_, of_.self);
}

/// Room for a call of `size` bytes, and its key. nullptr: there is no room now, a fault is to strike it (the key says
/// so), or it needs memory (`big`) because it is longer than what goes into the ring. The sending lock is held, and
/// given back if this throws.
[[gnu::always_inline]] inline std::byte* call_sender::reserve(peer& who, msg::handler_entry& function, std::size_t size,
                                                              outbox_message* big, result_decoder decode,
                                                              call_room& out) {
  try {
    out.key = key_of(who, function, decode, out);
    if (size > who.max_payload) [[unlikely]] {
      const bool batched = &function == &batch_entry();
      if (batched && size <= who.to->max_payload()) return who.reserve_in_ring(size);  // it has no place elsewhere
      who.check_size(size, batched ? "a batch" : "a call of " + of_.functions.pretty_name(function.key()));
    }
    return who.reserve(size, big);
  } catch (const fault_hit& hit) {
    out.key = key_of_fault(hit.what);
    return nullptr;
  } catch (const must_ask&) {
    out.key = key_to_ask_for;
    return nullptr;
  } catch (...) {
    who.sending.unlock();
    throw;
  }
}

bool call_sender::begin(const call_place& to, msg::handler_entry& function, std::size_t size, result_decoder decode,
                        when_full policy, call_room& out) {
  if (base::tracing()) [[unlikely]]
    base::this_tracer.expect_call();
  const std::uint64_t may_stop =
      static_cast<std::uint64_t>(to.deadline_ns) | stoppable_running_.load(std::memory_order_relaxed);
  if (may_stop != 0) [[unlikely]]
    return begin_stoppable({to, function, size, decode, policy}, out);
  if (decode != nullptr && to.context == 0 && begin_at_once(to.node, function, size, decode, out)) [[likely]]
    return true;
  return begin_as<false>({to, function, size, decode, policy}, out);
}

/// A call as most are: it has a result and no prefix, the node is ready and knows the function by the same key, and the
/// connection has room. False: it is another one, nothing has happened, and begin_as does what it takes.
[[gnu::always_inline]] inline bool call_sender::begin_at_once(node_t node, msg::handler_entry& function,
                                                              std::size_t size, result_decoder decode, call_room& out) {
  peer* const who = of_.peers.lock(node);
  if (who == nullptr) [[unlikely]]
    return false;
  std::byte* room = nullptr;
  if (who->state.load(std::memory_order_acquire) == peer_state::ready && who->has_same_key(function, plain_keys_) &&
      size <= who->max_payload && who->unsent.empty()) [[likely]] {
    who->to->expect_send(size);
    room = who->to->reserve(size);
  }
  if (room == nullptr) [[unlikely]] {
    who->sending.unlock();
    return false;
  }
  out.key = function.key();
  claim_reserved(*who, room, function, decode, 0, out);
  who->bytes_sent.count(size);
  if (base::tracing()) [[unlikely]]
    base::this_tracer.begin_call(function.key(), size);
  return true;
}

/// The call has `room`, and gets a slot. Without one this throws, and has given the room back.
[[gnu::always_inline]] inline void call_sender::claim_reserved(peer& who, std::byte* room, msg::handler_entry& function,
                                                               result_decoder decode, std::int64_t deadline_ns,
                                                               call_room& out) {
  out.data = room;
  out.to = &who;
  reservation held(out);
  out.slot = &claim_for(who, function, decode, deadline_ns);
  static_cast<void>(held.release());
}

/// The call has a deadline, or is perhaps made by one that can be stopped: then it gets no more time than that one has,
/// and is stopped with it.
bool call_sender::begin_stoppable(const request& what, call_room& out) {
  call_place place = what.to;
  // Nobody is told when a ping, or the whole of a batch, is over.
  if (what.decode == nullptr || what.function.always_runs()) {
    request alone = what;
    alone.token = this_thread.take_token();
    return begin_as<false>(alone, out);
  }
  if (call_stop* const outer = this_thread.innermost_stop()) {
    if (outer->requested()) {
      out.slot = stopped(place.node, what.function, what.decode);
      return false;
    }
    place.deadline_ns = outer->deadline_within(place.deadline_ns);
  }
  if (place.deadline_ns == 0) return begin_as<false>(what, out);
  return begin_as<true>({place, what.function, what.size, what.decode, what.policy, this_thread.take_token()}, out);
}

template <bool CanStop>
[[gnu::always_inline]] inline bool call_sender::begin_as(const request& what, call_room& out) {
  const auto& [to, function, size, decode, policy, token] = what;
  if (decode == nullptr)
    if (of_.events.pending()) [[unlikely]]
      node_.take_notice();              // nobody waits for an answer, which would tell
  constexpr unsigned max_waits = 4000;  // some 100 ms
  const bool batched = &function == &batch_entry();
  bool welcome = decode != nullptr || batched;
  const std::size_t prefix = (to.context == 0 ? 0 : sizeof(std::uint32_t)) + (CanStop ? time_left_bytes : 0);
  const std::size_t total = size + prefix;
  const bool refuses = policy != when_full::wait;
  const wait_limit limit{to.deadline_ns, token, CanStop || (token != nullptr && decode == nullptr),
                         policy == when_full::refuse_unready};
  std::unique_ptr<outbox_message> big;
  peer* who = nullptr;
  std::byte* room = nullptr;
  unsigned waits = 0;
  for (room_wait pause;;) {
    who = lock_ready(to, function, limit);
    if (who == nullptr) [[unlikely]] {
      if (limit.at_once) return false;
      out.slot =
          !limit.late() && limit.stopped() ? stopped(to.node, function, decode) : missed(to.node, function, decode);
      return false;
    }
    if (!welcome && !of_.pings.welcomes(*who, size)) [[unlikely]] {
      const peer_hold held(*who);
      who->sending.unlock();
      if (refuses && of_.pings.holds(*who)) return false;
      admit_ping(*who, to, function, token);
      welcome = true;
      continue;
    }
    who->to->expect_send(total);
    room = reserve(*who, function, total, big.get(), decode, out);
    if (room != nullptr) [[likely]]
      break;
    if (out.key >= first_key_of_fault) [[unlikely]] {
      const node_t process = who->node;
      who->sending.unlock();
      if (out.key == key_to_ask_for) {
        out.key = 0;
        if (limit.at_once) return false;
        node_.ask_for_functions(process, to.deadline_ns);
        if (to.deadline_ns == 0 || base::now_ns() < to.deadline_ns) continue;
        out.slot = missed(to.node, function, decode);
        return false;
      }
      return begin_faulted(what, process, out);
    }
    const bool is_big = total > (batched ? who->to->max_payload() : who->max_payload);
    // A message that waits behind others for room in the connection's memory might wait for ever.
    const bool in_own_memory = refuses || waits >= max_waits || !who->takes_at_once(total);
    const bool needs_memory = is_big && big != nullptr && in_own_memory && !big->has_memory();
    who->sending.unlock();
    if (is_big && big == nullptr) {
      big = std::make_unique<outbox_message>();
      if (batched) big->allocate(total);  // where nobody else can change what it says
      big->policy = policy;
      big->deadline_ns = to.deadline_ns;
      if (token != nullptr) big->token = *token;
      continue;
    }
    if (needs_memory) {
      big->allocate(total);
      continue;
    }
    if (refuses) return false;
    if (to.deadline_ns != 0 && base::now_ns() >= to.deadline_ns) {
      out.slot = missed(to.node, function, decode);
      return false;
    }
    if (limit.stopped()) {
      out.slot = stopped(to.node, function, decode);
      return false;
    }
    if (waits++ == 0) report(offload::event_kind::queue_full, to.node, nullptr);
    make_room(pause);
  }
  if (big != nullptr) [[unlikely]]
    node_.used_long_memory();
  out.data = room + prefix;
  out.to = who;
  if (big != nullptr && room == big->data()) [[unlikely]]
    out.queued = big.release();
  if (decode != nullptr) [[likely]] {
    claim_reserved(*who, room + prefix, function, decode, to.deadline_ns, out);
  } else if (!batched) {
    out.pinged = out.key == function.key();
    if (!out.pinged) [[unlikely]]
      base::this_recorder.record(base::recorded_kind::pinged, who->node, function.key(), no_reply);
  }
  who->bytes_sent.count(total);
  if (base::tracing()) [[unlikely]]
    base::this_tracer.begin_call(function.key(), total);
  if (prefix != 0) write_prefix<CanStop>(to, {room, prefix}, out);
  return true;
}

/// What the receiver reads in front of the arguments.
template <bool CanStop>
inline void call_sender::write_prefix(const call_place& to, std::span<std::byte> prefix, call_room& out) {
  msg::writer writer(prefix.data(), prefix.size());
  if (to.context != 0) {
    out.flags = in_context;
    writer.number(to.context);
  }
  if constexpr (CanStop) {
    out.flags |= stoppable;
    const std::int64_t left = to.deadline_ns - base::now_ns();
    writer.number(to.deadline_ns == base::never_ns ? std::uint64_t{0}
                                                   : static_cast<std::uint64_t>(std::max(left, std::int64_t{1})));
  }
}

// ---- faults

bool call_sender::begin_faulted(const request& what, node_t process, call_room& out) {
  const fault_decision fault = fault_of_key(out.key);
  if (fault.request != 0 && !suffer(of_.faults->rule(fault.request), what, process, out)) return false;
  const token_of_next_call ends_wait(what.token);
  if (!begin(what.to, what.function, what.size, what.decode, what.policy, out)) return false;
  if (out.slot != nullptr) out.slot->fault = fault.reply & max_fault_mark;  // not sent yet: no reply can come
  return true;
}

// ---- the message is sent

/// A call, or a batch, which has no slot.
[[gnu::always_inline]] inline bool call_sender::finish(call_room& out, frame_header head) {
  peer& who = *out.to;
  std::int64_t deadline = 0;
  std::uint64_t position = 0;
  if (out.slot != nullptr) {
    deadline = out.slot->deadline_ns;
    position = out.slot->position;
    out.slot->reply_due.store(true, std::memory_order_release);
  }
  who.count_calls(head.calls());
  if (out.queued == nullptr) [[likely]] {
    who.commit(head);
  } else if (!finish_big(who, head, out)) {
    return false;
  }
  if (deadline != 0) [[unlikely]]
    follow(head, position, deadline);
  return true;
}

/// A call that has a deadline, or can be stopped, has left.
void call_sender::follow(frame_header head, std::uint64_t position, std::int64_t deadline_ns) {
  const std::uint32_t call = head.id();
  if (deadline_ns != base::never_ns) of_.calls.add_deadline(call, deadline_ns);
  if (!head.stoppable()) return;
  call_stop* const outer = this_thread.innermost_stop();
  if (outer != nullptr && outer->of().at == of_.owner && outer->add_nested({call, position, deadline_ns}))
    node_.stop_call(call);
}

bool call_sender::finish(call_room& out) {
  if (base::tracing()) [[unlikely]]
    return finish_traced(out);
  const node_t node = out.to->node;
  if (out.slot == nullptr) {
    const std::uint32_t key = out.key;
    const bool pinged = out.pinged;
    if (!finish(out, frame_header::flagged_call(key, no_reply, out.flags))) return false;
    if (pinged) [[likely]]
      base::this_recorder.record(base::recorded_kind::pinged, node, key, no_reply);
    return true;
  }
  const std::uint32_t id = out.slot->id.load(std::memory_order_relaxed);
  const std::uint32_t function = out.slot->function->key();
  if (!finish(out, frame_header::flagged_call(out.key, id, out.flags))) return false;
  // Behind the sending, where it costs nobody time; the slot may be another call's by now.
  base::this_recorder.record(base::recorded_kind::sent, node, function, id);
  return true;
}

/// The call has been made when its receiver may see it, so that it does not begin there before.
bool call_sender::finish_traced(call_room& out) {
  base::thread_tracer& tracer = base::this_tracer;
  const bool answered = out.slot != nullptr;
  const bool pinged = out.pinged;
  const std::uint32_t id = answered ? out.slot->id.load(std::memory_order_relaxed) : no_reply;
  const node_t node = out.to->node;
  const std::uint32_t function = answered ? out.slot->function->key() : tracer.call_function();
  const std::uint64_t sent = tracer.end_call();
  if (!finish(out, frame_header::flagged_call(out.key, id, out.flags))) return false;
  if (answered || pinged)
    base::this_recorder.record(answered ? base::recorded_kind::sent : base::recorded_kind::pinged, node, function, id,
                               sent);
  tracer.add_call(answered ? base::trace_kind::sent : base::trace_kind::pinged, of_.self, node, function, id, sent);
  return true;
}

/// Back-pressure: the caller waits until its message has gone, unless it said that it would not.
bool call_sender::finish_big(peer& to, frame_header head, call_room& out) {
  const std::unique_ptr<outbox_message> message(std::exchange(out.queued, nullptr));
  const peer_hold held(to);
  const std::uint32_t stream = to.unsent.add(head, *message);
  bool gone = to.unsent.flush(*to.to);
  to.sending.unlock();
  if (message->policy != when_full::wait) {
    if (!gone) of_.lock.wake_if_asleep();  // who sleeps must look after the rest
    return true;
  }
  for (room_wait pause; !gone && to.state.load() != peer_state::lost;) {
    const bool late = message->deadline_ns != 0 && base::now_ns() >= message->deadline_ns;
    const bool with_caller = head.stoppable() || (out.slot == nullptr && message->token.stop_possible());
    const bool ends = late || wait_limit{0, &message->token, with_caller}.stopped();
    if (!ends) make_room(pause);
    to.sending.lock();
    gone = to.unsent.flush(*to.to);
    const bool withdrawn = ends && !gone && to.discount(to.unsent.withdraw(stream));
    to.sending.unlock();
    if (withdrawn) {
      if (out.slot != nullptr) fail_withdrawn(*out.slot, late);
      return false;
    }
    if (ends) break;
  }
  return true;
}

// ---- batches

void call_sender::place(const call_place& to, msg::handler_entry& function, result_decoder decode,
                        placed_function& placed) {
  call_room decided;
  try {
    place_decided(to, function, decode, decided, placed);
  } catch (const fault_hit& hit) {
    if (hit.what.request != 0)  // or it throws, as a call without a future does
      suffer(of_.faults->rule(hit.what.request), {to, function, 0, nullptr, when_full::wait}, hit.process, decided);
    place_decided(to, function, decode, decided, placed);
    placed.reply_fault = hit.what.reply;
  }
}

void call_sender::place_decided(const call_place& to, msg::handler_entry& function, result_decoder decode,
                                call_room& decided, placed_function& placed) {
  for (;;) {
    peer* const ready = lock_ready(to, function, {to.deadline_ns});
    if (ready == nullptr) std::rethrow_exception(missed_call(of_.functions, to.node, function));
    std::unique_lock sending(ready->sending, std::adopt_lock);
    placed.process = ready->node;
    try {
      placed.key = key_of(*ready, function, decode, decided);
      return;
    } catch (const must_ask&) {
      sending.unlock();
    }
    node_.ask_for_functions(placed.process, to.deadline_ns);
    if (to.deadline_ns != 0 && base::now_ns() >= to.deadline_ns)
      std::rethrow_exception(missed_call(of_.functions, to.node, function));
  }
}

void call_sender::begin_batch(const call_place& to, std::size_t size, call_room& out) {
  static msg::handler_entry& nothing = batch_entry();
  static_cast<void>(begin(to, nothing, size, nullptr, when_full::wait, out));  // or it throws
}

bool call_sender::finish_batch(call_room& out, std::uint32_t count) {
  return finish(out, frame_header::batch(count, (out.flags & in_context) != 0));
}

/// Polls, and waits until pings are welcome at the node; throws if they are not until the deadline, or the stop.
void call_sender::admit_ping(peer& who, const call_place& to, msg::handler_entry& function,
                             const std::stop_token* token) {
  who.pings.renew();
  node_.progress();
  for (room_wait pause; of_.pings.holds(who);) {
    if (who.node == of_.self && of_.pings.waits_for_calls(who) && this_thread.context != nullptr) {
      throw call_error(
          "too many calls wait on node " + std::to_string(of_.self) +
              ", and a context that waited for its own node here might wait for itself; wait for some first",
          call_error_reason::too_many_calls);
    }
    if (who.state.load(std::memory_order_acquire) == peer_state::lost)
      std::rethrow_exception(node_.loss_of(who, &function, 0, call_outcome::not_run));
    if (to.deadline_ns != 0 && base::now_ns() >= to.deadline_ns)
      std::rethrow_exception(missed_call(of_.functions, to.node, function));
    if (token != nullptr && wait_limit{0, token, true}.stopped())
      static_cast<void>(stopped(to.node, function, nullptr));
    make_room(pause);
  }
}

}  // namespace ham::detail
