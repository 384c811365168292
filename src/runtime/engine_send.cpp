// Sending calls and replies.
#include <cstring>
#include <mutex>

#include "base/clock.hpp"
#include "core/outbox_message.hpp"
#include "ham/msg/thread_pool.hpp"
#include "runtime/engine.hpp"

namespace ham::detail {

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

peer& engine::make_ready_and_lock(node_t node, const msg::handler_entry& function) {
  const peer_hold who = make_ready(node);
  who->sending.lock();
  if (who->state.load(std::memory_order_acquire) == peer_state::ready) return *who;
  who->sending.unlock();
  throw_lost(*who, &function, call_outcome::not_run);  // lost in between
}

call_slot& engine::claim_for(peer& to, msg::handler_entry& function, result_decoder decode, std::int64_t deadline_ns) {
  call_slot& slot = calls_.claim();
  slot.decode = decode;
  slot.function = &function;
  slot.position = to.to->sent();
  slot.deadline_ns = deadline_ns;
  slot.node.store(to.node, std::memory_order_relaxed);
  slot.state.store(slot_state::pending, std::memory_order_release);
  return slot;  // no reply is due before finish: until then cancel may give the slot back
}

/// Waits a little for room in the queue to a peer: executes what arrives meanwhile.
void engine::make_room(room_wait& pause) {
  if (progress()) {
    pause.reset();
    return;
  }
  if (oversubscribed()) pause.skip_spins();
  if (pause.next() != room_wait::step::sleep) {
    pause.wait();
    return;
  }
  msg::thread_pool::waiting in_pool;  // the peer computes, or is stopped: it may wait for a job behind this one
  pause.wait();
  help_pool(in_pool);
}

/// Room for a call of `size` bytes, and its key. nullptr: there is no room now, or it needs memory (`big`) because it
/// is longer than what goes into the ring. The sending lock is held, and given back if this throws.
[[gnu::always_inline]] inline std::byte* engine::reserve_call(peer& who, msg::handler_entry& function, std::size_t size,
                                                              outbox_message* big, std::uint32_t& key) {
  try {
    key = who.key_for(function, known_keys_, self_);
    if (size > who.max_payload) [[unlikely]]
      who.check_size(size,
                     &function == &batch_entry() ? "a batch" : "a call of " + table_->pretty_name(function.key()));
    return who.reserve(size, big);
  } catch (...) {
    who.sending.unlock();
    throw;
  }
}

bool engine::begin(const destination& to, msg::handler_entry& function, std::size_t size, result_decoder decode,
                   when_full policy, call_room& out) {
  if (decode == nullptr) notice_losses();  // nobody waits for an answer, which would tell
  constexpr unsigned max_waits = 4000;     // some 100 ms
  const bool batched = &function == &batch_entry();
  bool welcome = decode != nullptr || batched;
  const std::size_t prefix = to.context == 0 ? 0 : sizeof(std::uint32_t);
  const std::size_t total = size + prefix;
  std::unique_ptr<outbox_message> big;
  peer* who = nullptr;
  std::byte* room = nullptr;
  unsigned waits = 0;
  for (room_wait pause;;) {
    who = &lock_ready(to.node, function);
    if (!welcome && !flow_.welcomes(*who, size)) [[unlikely]] {
      const peer_hold held(*who);
      who->sending.unlock();
      admit_ping(*who, to, function);
      welcome = true;
      continue;
    }
    who->to->expect_send();
    room = reserve_call(*who, function, total, big.get(), out.key);
    if (room != nullptr) [[likely]]
      break;
    const bool is_big = total > who->max_payload;
    // A message that waits behind others for room in the connection's memory might wait for ever.
    const bool in_own_memory = policy == when_full::refuse || waits >= max_waits || !who->takes_at_once(total);
    const bool needs_memory = is_big && big != nullptr && in_own_memory && !big->has_memory();
    who->sending.unlock();
    if (is_big && big == nullptr) {
      big = std::make_unique<outbox_message>();
      if (batched) big->allocate(total);  // where nobody else can change what it says
      big->policy = policy;
      big->deadline_ns = to.deadline_ns;
      continue;
    }
    if (needs_memory) {
      big->allocate(total);
      continue;
    }
    if (policy == when_full::refuse) return false;
    if (to.deadline_ns != 0 && base::now_ns() >= to.deadline_ns) {
      out.slot = missed(to.node, function, decode);
      return false;
    }
    make_room(pause);
    ++waits;
  }
  if (big != nullptr) [[unlikely]]
    used_long_memory();
  out.data = room + prefix;
  out.to = who;
  if (big != nullptr && room == big->data()) [[unlikely]]
    out.queued = big.release();
  if (decode != nullptr) [[likely]] {
    reservation held(out);
    out.slot = &claim_for(*who, function, decode, to.deadline_ns);
    static_cast<void>(held.release());
  }
  who->bytes_sent.count(total);
  if (prefix != 0) {
    out.in_context = true;
    msg::writer(room, prefix).number(to.context);
  }
  return true;
}

/// A call, or a batch, which has no slot.
[[gnu::always_inline]] inline bool engine::finish(call_room& out, frame_header head) {
  peer& who = *out.to;
  std::int64_t deadline = 0;
  if (out.slot != nullptr) {
    deadline = out.slot->deadline_ns;
    out.slot->reply_due.store(true, std::memory_order_release);
  }
  who.count_calls(head.calls());
  if (out.queued == nullptr) [[likely]] {
    who.commit(head);
  } else if (!finish_big(who, head, out)) {
    return false;
  }
  if (deadline != 0) [[unlikely]]
    calls_.add_deadline(head.id(), deadline);
  return true;
}

bool engine::finish(call_room& out) {
  const std::uint32_t id = out.slot == nullptr ? no_reply : out.slot->id.load(std::memory_order_relaxed);
  return finish(out, frame_header::call(out.key, id, out.in_context));
}

/// Back-pressure: the caller waits until its message has gone, unless it said that it would not.
bool engine::finish_big(peer& to, frame_header head, call_room& out) {
  const std::unique_ptr<outbox_message> message(std::exchange(out.queued, nullptr));
  const peer_hold held(to);
  const std::uint32_t stream = to.unsent.add(head, *message);
  bool gone = to.unsent.flush(*to.to);
  to.sending.unlock();
  if (message->policy == when_full::refuse) {
    if (!gone) waiter_.wake_if_asleep();  // who sleeps must look after the rest
    return true;
  }
  for (room_wait pause; !gone && to.state.load() != peer_state::lost;) {
    const bool late = message->deadline_ns != 0 && base::now_ns() >= message->deadline_ns;
    if (!late) make_room(pause);
    to.sending.lock();
    gone = to.unsent.flush(*to.to);
    const bool withdrawn = late && !gone && to.discount(to.unsent.withdraw(stream));
    to.sending.unlock();
    if (withdrawn) {
      if (out.slot != nullptr) fail_unsent(*out.slot, missed_call(to.node, *out.slot->function));
      return false;
    }
    if (late) break;
  }
  return true;
}

void engine::flush_outboxes() {
  for (peer* const one : peers_) one->flush_if_free();
}

// ---- batches

batch_slot engine::begin_batched(node_t node, msg::handler_entry& function, result_decoder decode, batch_owner& owner) {
  peer& who = lock_ready(node, function);
  std::unique_lock sending(who.sending, std::adopt_lock);
  const std::uint32_t key = who.key_for(function, known_keys_, self_);
  sending.unlock();
  call_slot& slot = calls_.claim();
  slot.decode = decode;
  slot.function = &function;
  slot.deadline_ns = 0;
  slot.node.store(self_, std::memory_order_relaxed);  // not the peer's to fail before it is sent
  slot.in_batch = true;
  slot_batch(slot) = &owner;
  slot.state.store(slot_state::pending, std::memory_order_release);
  return {&slot, key};
}

void engine::send_batch(const destination& to, std::span<const std::byte> records, std::uint32_t count,
                        std::span<call_slot* const> slots) {
  call_room out;
  std::vector<std::uint32_t> ids;  // once it is sent, a slot may settle and be used again
  try {
    if (to.deadline_ns != 0) ids.reserve(slots.size());
    static msg::handler_entry& nothing = batch_entry();
    static_cast<void>(begin(to, nothing, records.size(), nullptr, when_full::wait, out));  // or it throws
  } catch (...) {
    for (call_slot* slot : slots) {
      slot->in_batch = false;
      fail_unsent(*slot, std::current_exception());
    }
    return;
  }
  peer& who = *out.to;
  const std::uint64_t position = who.to->sent();
  for (call_slot* slot : slots) {
    slot->in_batch = false;
    slot->position = position;
    slot->deadline_ns = to.deadline_ns;
    slot->node.store(who.node, std::memory_order_relaxed);
    slot->reply_due.store(true, std::memory_order_release);
  }
  std::memcpy(out.data, records.data(), records.size());
  if (to.deadline_ns != 0) {
    for (const call_slot* slot : slots) ids.push_back(slot->id);
  }
  if (finish(out, frame_header::batch(count, out.in_context))) {
    for (const std::uint32_t id : ids) calls_.add_deadline(id, to.deadline_ns);
  } else {
    for (const std::uint32_t id : ids) fail_withdrawn(id);
  }
}

// ---- the API's way in

bool begin_call(engine& at, const destination& to, msg::handler_entry& function, std::size_t size,
                result_decoder decode, when_full policy, call_room& out) {
  return at.begin(to, function, size, decode, policy, out);
}
void finish_call(engine& at, call_room& message) { at.finish(message); }

batch_slot begin_batched(engine& at, node_t node, msg::handler_entry& function, result_decoder decode,
                         batch_owner& owner) {
  return at.begin_batched(node, function, decode, owner);
}
void send_batch(engine& at, const destination& to, std::span<const std::byte> records, std::uint32_t count,
                std::span<call_slot* const> slots) {
  at.send_batch(to, records, count, slots);
}

}  // namespace ham::detail
