// Which of the calls that were taken begins when: in the order of their peers' sending, and never nested too deep.
//
// A call that may not begin when it is taken waits in its peer's list, behind the rest of a batch that is being
// executed. A thread at the limit of nesting begins nothing more until its stack has unwound.
#include <algorithm>
#include <iterator>

#include "core/batch_records.hpp"
#include "runtime/batch_reply.hpp"
#include "runtime/engine.hpp"
#include "runtime/remote_exception.hpp"

namespace ham::detail {
namespace {

constexpr std::size_t max_at_once = 64;  // begun under one hold of the receiving lock
/// Nothing has arrived for so long at a thread that waits at the limit: what it waits for may wait for a call that it
/// does not begin.
constexpr std::int64_t max_silence_ns = 1'000'000'000;
/// The same if it waits for something of its own node, which is at hand and loses nothing by beginning early; and for
/// continuations, which cannot be refused, on the first levels beyond the limit.
constexpr std::int64_t shortest_silence_ns = 1'000'000;
constexpr unsigned spare_depth = 64;

std::vector<std::byte> nested_too_deep(node_t node, unsigned limit) {
  return encode_call_error("calls are nested more than " + std::to_string(limit) + " deep on node " +
                           std::to_string(node) +
                           ", and this one may be what they wait for (it cannot begin before one of them returns); "
                           "let fewer calls wait inside of each other");
}

}  // namespace

void engine::defer(peer& from, frame_header head, std::span<const std::byte> payload) {
  stored_message message{&from, head, {payload.begin(), payload.end()}};
  if (!set_aside(from, head, payload)) return;
  from.deferred.push_back(std::move(message));
  ++from.waiting;
  ++deferred_;
  waiter_.wake_parked();  // whoever may execute it
}

stored_message engine::take_deferred(peer& from, std::list<stored_message>::iterator which) {
  stored_message message = std::move(*which);
  from.deferred.erase(which);
  flow_.give(message.bytes.size());
  --from.waiting;
  --deferred_;
  return message;
}

bool engine::run_deferred(const call_slot* awaited) {
  std::size_t begun = 0;
  for (peer* const one : peers_) {
    for (;;) {
      const bool enough = begun == max_at_once || continuation_due() || (awaited != nullptr && awaited->settled());
      if (enough) return begun != 0;
      if (!run_first(*one)) break;
      ++begun;
    }
  }
  return begun != 0;
}

/// Begins the oldest message of a peer that waits. False: none may begin on this thread now.
bool engine::run_first(peer& from) {
  if (this_thread.depth >= max_depth || must_wait(from) || !has_waiting(from)) return false;
  if (from.batch != nullptr && from.batch->left != 0) {
    const execution scope(*this, from);
    run_next(from, *from.batch);
  } else {
    const stored_message message = take_deferred(from, from.deferred.begin());
    execute(from, message.head, message.bytes);
  }
  return true;
}

/// Whether a message that was set aside may begin on this thread.
bool engine::has_runnable() const {
  if (this_thread.depth >= max_depth) return false;
  for (const peer* one : peers_) {
    if (!must_wait(*one) && has_waiting(*one)) return true;
  }
  return false;
}

// ---- batches

/// A batch of the main queue. Who waits within one of its calls begins the next one: what was sent behind the batch
/// does not overtake it, and a call may wait for one behind it.
void engine::execute_batch(peer& from, frame_header head, std::span<const std::byte> payload) {
  open_batch batch{payload, head.calls(), new batch_reply(*this, from, head.calls()), from.batch};
  ++from.waiting;
  ++deferred_;
  {
    const execution scope(*this, from);
    from.batch = &batch;
    while (batch.left != 0) run_next(from, batch);
    from.batch = batch.outer;
  }
  --from.waiting;
}

void engine::run_next(peer& from, open_batch& batch) {
  const batch_record next(batch.rest);
  batch.rest = batch.rest.subspan(next.size());
  if (--batch.left == 0) --deferred_;
  run_call(from, next.call, next.arguments, *table_->find(next.key), batch.collected);
}

// ---- the limit of nesting

/// For a thread that waits at the limit and finds nothing to do. Usually what it waits for comes, and its stack
/// unwinds. Only if that may wait for something which does not begin because of the limit, it is refused, or begins
/// after all.
void engine::at_limit(const call_slot* awaited, std::int64_t now, std::int64_t& silent_since) {
  const bool first = silent_since == 0;
  if (first) silent_since = now;
  const std::int64_t silent = now - silent_since;
  const bool local = awaited == nullptr || awaited->function == nullptr;
  const bool spare = this_thread.depth < max_depth + spare_depth;
  if (!calls_.due().empty() && silent >= (local || spare ? shortest_silence_ns : max_silence_ns)) {
    silent_since = now;
    run_continuations(1);  // nobody could be told that it is refused
    return;
  }
  if (deferred_.load() == 0) return;
  const bool own = !local && awaited->node.load(std::memory_order_relaxed) == self_;
  if (!(own && first) && silent < max_silence_ns) return;
  waiter_.lock();
  if (own && refuse_own(*awaited)) {
    // that was it
  } else if (silent >= max_silence_ns && (local || was_consumed(*awaited))) {
    refuse_newest();
    silent_since = now - max_silence_ns + shortest_silence_ns;
  }
  waiter_.unlock();
}

/// Whether the peer has seen the call; one that has not is busy, and nothing waits on its side for what is called here.
bool engine::was_consumed(const call_slot& awaited) const {
  const node_t node = awaited.node.load(std::memory_order_relaxed);
  if (!peers_.has(node)) return true;
  const peer& to = peers_[node];
  return to.to == nullptr || to.to->consumed() > awaited.position;
}

/// A call of this node to itself, for which this thread waits although only it could begin it.
bool engine::refuse_own(const call_slot& awaited) {
  peer& me = peers_[self_];
  const auto found = std::find_if(me.deferred.begin(), me.deferred.end(), [&](const stored_message& one) {
    return one.head.is_call() && one.head.id() == awaited.id.load(std::memory_order_relaxed);
  });
  if (found == me.deferred.end() || must_wait(me)) return false;
  const stored_message message = take_deferred(me, found);
  refuse_message(me, message.head, message.bytes, nested_too_deep(self_, max_depth));
  return true;
}

/// Of each peer whose calls only this thread may begin, the last message: calls without end wait for that one.
void engine::refuse_newest() {
  for (peer* const one : peers_) {
    if (must_wait(*one) || !has_waiting(*one)) continue;
    const std::vector<std::byte> error = nested_too_deep(self_, max_depth);
    if (!one->deferred.empty()) {
      const stored_message message = take_deferred(*one, std::prev(one->deferred.end()));
      refuse_message(*one, message.head, message.bytes, error);
      continue;
    }
    open_batch& batch = *one->batch;
    const batch_record next(batch.rest);
    batch.rest = batch.rest.subspan(next.size());
    if (--batch.left == 0) --deferred_;
    batch.collected->fail(next.call, error);
  }
}

}  // namespace ham::detail
