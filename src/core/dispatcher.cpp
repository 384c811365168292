// How calls begin, wait for their turn, and are refused.
#include "core/dispatcher.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <new>

#include "base/clock.hpp"
#include "core/batch_records.hpp"
#include "core/remote_exception.hpp"

namespace ham::inline v1::detail {
namespace {

constexpr std::size_t max_at_once = 64;  // begun under one hold of the receiving lock
/// Nothing has arrived for so long at a thread that waits at the limit: what it waits for may wait for a call that it
/// does not begin.
constexpr std::int64_t max_silence_ns = 1'000'000'000;
/// The same if it waits for something of its own node, which is at hand and loses nothing by beginning early; and for
/// continuations, which cannot be refused, on the first levels beyond the limit.
constexpr std::int64_t shortest_silence_ns = 1'000'000;
constexpr unsigned spare_depth = 64;
constexpr unsigned max_depth = thread_state::max_depth;
/// What the peer has sent.
constexpr const char* no_memory_for_batch = "a batch for whose answer there is no memory";

std::vector<std::byte> nested_too_deep(node_t node) {
  return encode_call_error("calls are nested more than " + std::to_string(max_depth) + " deep on node " +
                               std::to_string(node) +
                               ", and this one may be what they wait for (it cannot begin before one of them returns); "
                               "let fewer calls wait inside of each other",
                           call_error_reason::nested_too_deep);
}

}  // namespace

// ---- what arrives

void dispatcher::take(peer& from, frame_header head, std::span<const std::byte> payload) {
  if (!from.hello_seen) throw protocol_error("a call before the greeting");
  check_message(of_.functions, head, payload);
  count_executed(from, head.calls());
  if (head.in_context()) {
    take_for_context(from, head, payload);
  } else if (must_wait(from) || has_waiting(from) || this_thread.depth >= max_depth) [[unlikely]] {
    defer(from, head, payload);
  } else {
    execute(from, head, payload, 0);
  }
}

void dispatcher::take_for_context(peer& from, frame_header head, std::span<const std::byte> payload) {
  const std::uint32_t context = word_at(payload, 0);
  if (!set_aside(from, head, payload)) return;
  from.users.fetch_add(1, std::memory_order_relaxed);
  std::shared_ptr<call_stop> stop;
  if (head.stoppable()) {
    stop = list_stoppable(from, head, payload, base::now_ns());
    if (stop == nullptr) {
      from.users.fetch_sub(1, std::memory_order_relaxed);
      of_.room.give(payload.size());
      return;
    }
  }
  const auto give_back = [&] {
    from.users.fetch_sub(1, std::memory_order_relaxed);
    of_.room.give(payload.size());
  };
  try {
    if (node_.queue_for_context(context, {&from, head, {payload.begin(), payload.end()}, 0, std::move(stop)})) return;
  } catch (...) {
    give_back();
    throw;
  }
  give_back();
  refuse(from, head, payload,
         encode_call_error("context " + std::to_string(context) + " is not open on node " + std::to_string(of_.self) +
                               " (it was closed, or is another node's)",
                           call_error_reason::no_context));
}

void dispatcher::execute(peer& from, frame_header head, std::span<const std::byte> payload, std::int64_t arrived_ns) {
  if (head.is_batch()) {
    execute_batch(from, head, payload);
    return;
  }
  std::shared_ptr<call_stop> stop;
  if (head.stoppable()) {
    stop = list_stoppable(from, head, payload, arrived_ns != 0 ? arrived_ns : base::now_ns());
    if (stop == nullptr) return;
  }
  const execution scope(*this, from);
  run_single(from, head, payload, std::move(stop));
}

void dispatcher::run_single(peer& from, frame_header head, std::span<const std::byte> payload,
                            std::shared_ptr<call_stop> stop) {
  if (stop != nullptr)
    run_stoppable(from, head, payload, std::move(stop));
  else
    run_call(from, head.id(), payload.subspan(head.prefix_bytes()), *of_.functions.find(head.key()));
}

void dispatcher::run_stored(stored_message& message) {
  peer& from = *message.from;
  const struct done {
    peer& from;
    ~done() { from.users.fetch_sub(1, std::memory_order_acq_rel); }
  } at_end{from};
  const frame_header head = message.head;
  std::span<const std::byte> payload = message.bytes;
  if (head.is_call()) {
    run_single(from, head, payload, std::move(message.stop));
    return;
  }
  payload = payload.subspan(head.prefix_bytes());
  batch_reply* collected = nullptr;
  try {
    collected = new batch_reply(of_.replies, from, head.calls());
  } catch (const std::bad_alloc&) {
    const std::lock_guard guard(of_.lock);
    node_.fail_peer(from, no_memory_for_batch);
    of_.lock.wake();
    return;
  }
  for (std::uint32_t i = 0; i < head.calls(); ++i) {
    const batch_record next(payload);
    run_call(from, next.call, next.arguments, *of_.functions.find(next.key), collected);
    payload = payload.subspan(next.size());
  }
}

// ---- batches

/// A batch of the main queue. Who waits within one of its calls begins the next one: what was sent behind the batch
/// does not overtake it, and a call may wait for one behind it.
void dispatcher::execute_batch(peer& from, frame_header head, std::span<const std::byte> payload) {
  open_batch batch{payload, head.calls(), new batch_reply(of_.replies, from, head.calls()), from.batch};
  ++from.waiting;
  count_deferred(1);
  {
    const execution scope(*this, from);
    from.batch = &batch;
    run_all(from, batch);
    from.batch = batch.outer;
  }
  --from.waiting;
}

/// The end of a call is the begin of the next one, which is what is written down.
void dispatcher::run_all(peer& from, open_batch& batch) {
  std::optional<base::observed_execution> observed;
  const msg::handler_entry* last = nullptr;
  bool quick = false;
  while (batch.left != 0) {
    const batch_record next = take_record(batch);
    const msg::handler_entry& entry = *of_.functions.find(next.key);
    if (observes_itself(entry)) {
      observed.reset();
      run_call(from, next.call, next.arguments, entry, batch.collected);
      continue;
    }
    const base::observed_execution::call_of what{of_.self, from.node, entry.key(), next.call};
    if (observed)
      quick = observed->next(what, quick && &entry == last);
    else
      observed.emplace(what, of_.counters);
    last = &entry;
    incoming_call call{of_.owner, &from, next.arguments, next.call, &entry, batch.collected};
    handle(call);
  }
}

void dispatcher::run_next(peer& from, open_batch& batch) {
  const batch_record next = take_record(batch);
  run_call(from, next.call, next.arguments, *of_.functions.find(next.key), batch.collected);
}

batch_record dispatcher::take_record(open_batch& batch) {
  const batch_record next(batch.rest);
  batch.rest = batch.rest.subspan(next.size());
  if (--batch.left == 0) count_deferred(-1);
  return next;
}

// ---- what waits for its turn

/// Room for a message that cannot begin now. False: there is none, and its sender is told.
bool dispatcher::set_aside(peer& from, frame_header head, std::span<const std::byte> payload) {
  if (of_.room.take(payload.size())) [[likely]] {
    if (head.id() == no_reply) of_.room.slow_if_filling(from);
    return true;
  }
  refuse(from, head, payload, encode_call_error(no_room(), call_error_reason::too_many_calls));
  return false;
}

std::string dispatcher::no_room() const {
  return "too many calls wait on node " + std::to_string(of_.self) + " (at most " +
         std::to_string(of_.room.max_bytes()) +
         " bytes of them may; HAM_MAX_MESSAGE there raises that); wait for some first";
}

void dispatcher::defer(peer& from, frame_header head, std::span<const std::byte> payload) {
  std::list<stored_message> message;
  message.push_back({&from, head, {payload.begin(), payload.end()}, head.stoppable() ? base::now_ns() : 0});
  if (!set_aside(from, head, payload)) return;
  from.deferred.splice(from.deferred.end(), message);
  ++from.waiting;
  count_deferred(1);
  of_.lock.wake_parked();  // whoever may execute it
}

stored_message dispatcher::take_deferred(peer& from, std::list<stored_message>::iterator which) {
  stored_message message = std::move(*which);
  from.deferred.erase(which);
  of_.room.give(message.bytes.size());
  --from.waiting;
  count_deferred(-1);
  return message;
}

bool dispatcher::run_some_deferred(const call_slot* awaited) {
  std::size_t begun = 0;
  for (peer* const one : of_.peers) {
    for (;;) {
      const bool enough =
          begun == max_at_once || of_.continuations.may_run() || (awaited != nullptr && awaited->settled());
      if (enough) return begun != 0;
      if (!run_first(*one)) break;
      ++begun;
    }
  }
  return begun != 0;
}

/// Begins the oldest message of a peer that waits. False: none may begin on this thread now.
bool dispatcher::run_first(peer& from) {
  if (this_thread.depth >= max_depth || must_wait(from) || !has_waiting(from)) return false;
  if (from.batch != nullptr && from.batch->left != 0) {
    const execution scope(*this, from);
    run_next(from, *from.batch);
  } else {
    const stored_message message = take_deferred(from, from.deferred.begin());
    try {
      execute(from, message.head, message.bytes, message.arrived_ns);
    } catch (const std::bad_alloc&) {
      node_.fail_peer(from, no_memory_for_batch);
      return false;
    }
  }
  return true;
}

bool dispatcher::has_runnable() const {
  if (this_thread.depth >= max_depth) return false;
  for (const peer* one : of_.peers) {
    if (!must_wait(*one) && has_waiting(*one)) return true;
  }
  return false;
}

bool dispatcher::has_deferred_of(const function_test& is_meant) const {
  for (const peer* one : of_.peers) {
    for (const stored_message& message : one->deferred)
      if (has_call_of(message, is_meant)) return true;
    if (must_wait(*one)) continue;  // its batches are the other thread's
    for (const open_batch* batch = one->batch; batch != nullptr; batch = batch->outer)
      if (has_record_of(batch->rest, batch->left, is_meant)) return true;
  }
  return false;
}

bool dispatcher::has_call_of(const stored_message& message, const function_test& is_meant) const {
  if (message.head.is_call()) return is_meant(*of_.functions.find(message.head.key()));
  const std::span<const std::byte> bytes = message.bytes;
  return has_record_of(bytes.subspan(message.head.prefix_bytes()), message.head.calls(), is_meant);
}

bool dispatcher::has_record_of(std::span<const std::byte> records, std::uint32_t calls,
                               const function_test& is_meant) const {
  for (; calls != 0; --calls) {
    const batch_record next(records);
    if (is_meant(*of_.functions.find(next.key))) return true;
    records = records.subspan(next.size());
  }
  return false;
}

void dispatcher::begin_elsewhere(incoming_call& call) {
  if (!of_.room.take(call.payload.size())) throw call_error(no_room(), call_error_reason::too_many_calls);
  pooled_in_flight_.fetch_add(1, std::memory_order_acq_rel);
  if (of_.counters != nullptr) of_.counters->count_in_pool(1);
  call.from->users.fetch_add(1, std::memory_order_relaxed);
  if (!wants_reply(call)) of_.room.slow_if_filling(*call.from);
  if (call.batch != nullptr) call.batch->share();
}

void dispatcher::end_elsewhere(incoming_call& call) noexcept {
  call.from->users.fetch_sub(1, std::memory_order_acq_rel);
  of_.room.give(call.payload.size());
  if (of_.counters != nullptr) of_.counters->count_in_pool(-1);
  pooled_in_flight_.fetch_sub(1, std::memory_order_acq_rel);
}

// ---- what will not run

void dispatcher::refuse(peer& from, frame_header head, std::span<const std::byte> payload,
                        std::span<const std::byte> error) {
  if (head.is_call()) {
    if (head.id() != no_reply)
      of_.replies.reply_with(from, frame_header::reply_error(head.id()), error);
    else
      node_.lose_ping(head, payload, error);
    return;
  }
  auto* const collected = new batch_reply(of_.replies, from, head.calls());
  payload = payload.subspan(head.prefix_bytes());
  for (std::uint32_t i = 0; i < head.calls(); ++i) {
    const batch_record next(payload);
    collected->fail(next.call, error);
    payload = payload.subspan(next.size());
  }
}

/// Usually what a thread at the limit waits for comes, and its stack unwinds. Only if that may wait for something which
/// does not begin because of the limit, it is refused, or begins after all.
void dispatcher::wait_at_limit(const call_slot* awaited, std::int64_t now_ns, std::int64_t& silent_since) {
  const bool first = silent_since == 0;
  if (first) silent_since = now_ns;
  const std::int64_t silent = now_ns - silent_since;
  const bool local = awaited == nullptr || awaited->function == nullptr;
  const bool spare = this_thread.depth < max_depth + spare_depth;
  if (of_.continuations.due() && silent >= (local || spare ? shortest_silence_ns : max_silence_ns)) {
    silent_since = now_ns;
    of_.continuations.run_one();  // nobody could be told that it is refused
    return;
  }
  if (deferred_.load() == 0) return;
  const bool own = !local && awaited->node.load(std::memory_order_relaxed) == of_.self;
  if (!(own && first) && silent < max_silence_ns) return;
  const std::lock_guard guard(of_.lock);
  if (own && refuse_own(*awaited)) {
    // that was it
  } else if (silent >= max_silence_ns && (local || was_consumed(*awaited))) {
    refuse_newest();
    silent_since = now_ns - max_silence_ns + shortest_silence_ns;
  }
}

/// Whether the peer has seen the call; one that has not is busy, and nothing waits on its side for what is called here.
bool dispatcher::was_consumed(const call_slot& awaited) const {
  const node_t node = awaited.node.load(std::memory_order_relaxed);
  if (!of_.peers.has(node)) return true;
  const peer& to = of_.peers[node];
  return to.to == nullptr || to.to->consumed() > awaited.position;
}

/// A call of this node to itself, for which this thread waits although only it could begin it.
bool dispatcher::refuse_own(const call_slot& awaited) {
  peer& me = of_.peers[of_.self];
  const auto found = std::find_if(me.deferred.begin(), me.deferred.end(), [&](const stored_message& one) {
    return one.head.is_call() && one.head.id() == awaited.id.load(std::memory_order_relaxed);
  });
  if (found == me.deferred.end() || must_wait(me)) return false;
  const std::vector<std::byte> error = nested_too_deep(of_.self);
  const stored_message message = take_deferred(me, found);
  refuse(me, message.head, message.bytes, error);
  return true;
}

/// Of each peer whose calls only this thread may begin, the last message: calls without end wait for that one.
void dispatcher::refuse_newest() {
  for (peer* const one : of_.peers) {
    if (must_wait(*one) || !has_waiting(*one)) continue;
    const std::vector<std::byte> error = nested_too_deep(of_.self);
    if (!one->deferred.empty()) {
      const stored_message message = take_deferred(*one, std::prev(one->deferred.end()));
      refuse(*one, message.head, message.bytes, error);
      continue;
    }
    open_batch& batch = *one->batch;
    const batch_record next(batch.rest);
    batch.rest = batch.rest.subspan(next.size());
    if (--batch.left == 0) count_deferred(-1);
    batch.collected->fail(next.call, error);
  }
}

}  // namespace ham::detail
