// The calls that a node has pending: their slots, deadlines, and how they settle.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <utility>

#include "core/deadline_queue.hpp"
#include "core/ready_queue.hpp"
#include "core/slot_table.hpp"
#include "core/waiter.hpp"

namespace ham::inline v1::detail {

/// Of a call that nobody will ask for: whether its error is told (ham::on_unobserved_error).
enum class errors_told : bool { no, yes };

/// Makes what tells of the error of a call that nobody asked for, and is run without a lock; nullptr: nothing.
using unobserved_reporter = continuation* (*)(engine& owner, node_t node, const msg::handler_entry& function,
                                              std::exception_ptr why) noexcept;

/// A call settles under the receiving lock, so that a continuation is neither lost nor run twice; or, by a reply that
/// the thread of its future has read itself, under the `reading` lock of its node's place (reply_reader), which all
/// take who may settle it, or attach something, otherwise. Who settles something runs what is due() afterwards, without
/// the lock.
class call_table {
 public:
  /// `owner`: what futures find by their slots.
  call_table(engine* owner, waiter& at, unobserved_reporter unobserved = nullptr) noexcept
      : slots_(owner), waiter_(at), owner_(owner), unobserved_(unobserved) {}

  // ---- any thread
  /// A slot, whose contents are the caller's to set. Throws ham::call_error if a million calls are pending.
  [[nodiscard]] call_slot& claim() {
    call_slot* const slot = slots_.claim();
    if (slot == nullptr) [[unlikely]]
      throw_full();
    return *slot;
  }
  /// The slot of something that this node itself settles.
  [[nodiscard]] call_slot& claim_local(node_t self);
  /// Takes back the slot of a call that was never sent.
  void cancel(call_slot& slot) noexcept { slots_.release(slot); }
  /// Takes back a slot that has settled. If it failed by its deadline it waits for the late reply, so that this cannot
  /// be taken for another's.
  void release(call_slot& slot) noexcept;
  /// Nobody asks for the result any more. False: it has settled, or something is attached to it, which is to run.
  [[nodiscard]] bool abandon(call_slot& slot, errors_told tell = errors_told::yes) noexcept;
  /// What runs when the call settles. True: it has settled, and `what` is due.
  [[nodiscard]] bool attach(call_slot& slot, continuation* what) noexcept {
    return attach(slot, what, [](node_t, auto add) { add(); });
  }
  /// The same. `alone(node, add)` calls add() while nobody else settles calls to that node.
  template <class Alone>
  [[nodiscard]] bool attach(call_slot& slot, continuation* what, Alone alone) noexcept {
    bool pending = false;
    {
      std::lock_guard guard(waiter_);
      alone(slot.node.load(std::memory_order_relaxed), [&] { pending = add_continuation(slot, what); });
    }
    if (!pending) due_.push(what);
    return !pending;
  }
  /// The slot of an id, or nullptr.
  [[nodiscard]] call_slot* find(std::uint32_t call) const noexcept { return slots_.find(call); }
  /// Several threads wait at the same time.
  void spread_slots() noexcept { slots_.spread(); }
  /// The call is on its way.
  void add_deadline(std::uint32_t call, std::int64_t deadline_ns) noexcept;
  [[nodiscard]] std::int64_t next_deadline_ns() const noexcept { return deadlines_.next_ns(); }
  /// There was no memory for the reply of this node to a call of its own.
  void mark_unanswered(std::uint32_t call) noexcept;
  /// Continuations of calls that have settled.
  [[nodiscard]] ready_queue& due() noexcept { return due_; }
  [[nodiscard]] const ready_queue& due() const noexcept { return due_; }

  // ---- the receiving lock is held
  /// The result is in the slot.
  void settle(call_slot& slot, slot_state outcome) noexcept {
    continuation* const then = std::exchange(slot.then, nullptr);
    slot.state.store(outcome, std::memory_order_release);  // from here on its future may give it back
    if (then != nullptr) [[unlikely]]
      due_.push(then);
    waiter_.wake_finished();
  }
  void fail(call_slot& slot, std::exception_ptr why) noexcept;
  /// The same for a call of which nothing has left this node; if it has settled meanwhile, nothing.
  void fail_unsent(call_slot& slot, std::exception_ptr why) noexcept;
  /// The call that a reply is for; nullptr: nobody waits for it any more, or a fault is to strike it, which find_faulty
  /// tells. Throws ham::protocol_error if no reply from `from` is due.
  [[nodiscard]] call_slot* take_reply(std::uint32_t call, node_t from) {
    call_slot* const slot = slots_.at_index_of(call);
    // The generation after the flag: while no reply is due the slot may become another call's.
    if (slot == nullptr || !slot->reply_due.load(std::memory_order_acquire) ||
        slot->id.load(std::memory_order_relaxed) != call || slot->node.load(std::memory_order_relaxed) != from)
        [[unlikely]]
      throw_no_call();
    if (slot->orphan || slot->fault != 0 || slot->state.load(std::memory_order_relaxed) != slot_state::pending)
        [[unlikely]] {
      if (find_faulty(call) == nullptr) drop_reply(*slot);
      return nullptr;
    }
    slot->reply_due.store(false, std::memory_order_relaxed);
    return slot;
  }
  /// The pending call whose reply has arrived and is to suffer a fault; nullptr: there is none. No such fault is left
  /// once its `fault` is 0.
  [[nodiscard]] call_slot* find_faulty(std::uint32_t call) const noexcept;
  /// Whether a reply from `node` to this call may still come.
  [[nodiscard]] bool awaits(std::uint32_t call, node_t node) const noexcept;
  /// The function of a call that was abandoned while its errors are told; nullptr: it was not, or no reply to it is
  /// due.
  [[nodiscard]] const msg::handler_entry* abandoned(std::uint32_t call, node_t from) const noexcept;
  /// Of such a call; told once the receiving lock is free.
  void report_unobserved(node_t node, const msg::handler_entry& function, std::exception_ptr why) noexcept;
  /// Fails the calls to which a reply from `node` is due: `why(slot)` is the error.
  template <class Why>
  void fail_all_of(node_t node, Why why) noexcept {
    slots_.for_each([&](call_slot& slot) {
      // Other threads claim, fill and release slots of other nodes meanwhile.
      if (slot.reply_due.load(std::memory_order_acquire) && slot.node == node) fail_awaited(slot, why);
    });
  }
  /// The call to `node` that was sent first of those to which a reply is due, also if nobody waits for it any more, but
  /// for those that are `left_out`; nullptr: there is none. Looks at all slots.
  [[nodiscard]] call_slot* oldest_to(
      node_t node,
      bool (*left_out)(const call_slot&) noexcept = [](const call_slot&) noexcept { return false; }) noexcept;
  /// Fails what was marked as unanswered.
  void fail_unanswered(const std::exception_ptr& why) noexcept;
  /// Whether a call is pending for which `is_meant(slot)` is true. `alone`: as of attach.
  template <class Alone, class IsMeant>
  [[nodiscard]] bool has_pending(Alone alone, IsMeant is_meant) {
    bool found = false;
    slots_.for_each([&](call_slot& slot) {
      if (!slot.reply_due.load(std::memory_order_acquire)) return;
      const node_t node = slot.node.load(std::memory_order_acquire);
      alone(node, [&] {
        const bool waits = slot.reply_due.load(std::memory_order_acquire) && slot.state.load() == slot_state::pending;
        found = found || (waits && slot.node.load(std::memory_order_relaxed) == node && is_meant(slot));
      });
    });
    return found;
  }
  /// Fails what is pending, whatever it waits for: at the end of the node. `why(slot)` is the error, or nullptr: not
  /// this one.
  template <class Why>
  void fail_pending(Why why) noexcept {
    slots_.for_each([&](call_slot& slot) {
      if (slot.state.load() != slot_state::pending) return;
      std::exception_ptr error = why(slot);
      if (error == nullptr) return;
      slot.reply_due = false;
      slot.in_batch = false;
      fail(slot, std::move(error));
    });
  }
  /// For checks.
  template <class Visit>
  void for_each_slot(Visit visit) {
    slots_.for_each(visit);
  }
  /// Calls expire(slot) for each pending call whose deadline has passed.
  template <class Expire>
  void expire(std::int64_t now_ns, Expire expire) noexcept {
    this->expire(
        now_ns, [](node_t, auto look) { look(); }, expire);
  }
  /// The same, each within `alone(node, look)`, which calls look() while nobody else settles calls to that node.
  template <class Alone, class Expire>
  void expire(std::int64_t now_ns, Alone alone, Expire expire) noexcept {
    if (deadlines_.unlisted_due(now_ns)) expire_unlisted(now_ns, alone, expire);
    while (const auto call = deadlines_.pop_due(now_ns)) {
      call_slot* const slot = slots_.find(*call);
      if (slot == nullptr) continue;
      // Acquire: the slot may be another call's by now, to another node. Then what ended the first one is seen, too,
      // although that node's lock orders nothing of it.
      alone(slot->node.load(std::memory_order_acquire), [&] {
        // In this order: while it is pending and its own, it stays so.
        if (!slot->settled() && slot->id.load(std::memory_order_relaxed) == *call) expire_one(*slot, now_ns, expire);
      });
    }
  }

  /// In a child after fork: nobody holds a lock, and what is pending fails because of `why`.
  void detach_after_fork(const std::exception_ptr& why) noexcept;

 private:
  [[nodiscard]] static bool add_continuation(call_slot& slot, continuation* what) noexcept;
  [[noreturn]] static void throw_full();
  [[noreturn]] static void throw_no_call();
  void drop_reply(call_slot& slot) noexcept;
  [[nodiscard]] static bool is_abandoned(const call_slot& slot) noexcept {
    return slot.orphan && slot.state.load() == slot_state::pending && slot.function != nullptr;
  }
  void report_unobserved(const call_slot& slot, std::exception_ptr why) noexcept {
    report_unobserved(slot.node.load(std::memory_order_relaxed), *slot.function, std::move(why));
  }
  /// The reply that is due never comes.
  template <class Why>
  void fail_awaited(call_slot& slot, Why&& why) noexcept {
    if (slot.orphan || slot.state.load() != slot_state::pending) {
      if (is_abandoned(slot)) report_unobserved(slot, why(slot));
      drop_reply(slot);
    } else {
      slot.reply_due = false;
      fail(slot, why(slot));
    }
  }
  template <class Expire>
  static void expire_one(call_slot& slot, std::int64_t now_ns, Expire expire) noexcept {
    if (slot.state.load() != slot_state::pending) return;
    // Detached: the late reply will free it. Another deadline: the id was used again since.
    if (slot.orphan || slot.deadline_ns == 0 || slot.deadline_ns > now_ns) return;
    expire(slot);
  }
  /// All slots, for the sake of calls that are not listed.
  template <class Alone, class Expire>
  void expire_unlisted(std::int64_t now_ns, Alone alone, Expire expire) noexcept {
    std::int64_t next = base::never_ns;
    const auto look = [&](call_slot& slot) {
      if (slot.deadline_ns == 0) return;
      if (slot.deadline_ns > now_ns)
        next = std::min(next, slot.deadline_ns);
      else
        expire_one(slot, now_ns, expire);
    };
    slots_.for_each([&](call_slot& slot) {
      if (!slot.reply_due.load(std::memory_order_acquire)) return;
      const node_t node = slot.node.load(std::memory_order_acquire);
      alone(node, [&] {
        const bool due = slot.reply_due.load(std::memory_order_acquire);
        if (due && slot.node.load(std::memory_order_relaxed) == node) look(slot);
      });
    });
    deadlines_.set_unlisted(next);
  }

  slot_table slots_;
  waiter& waiter_;
  engine* const owner_;
  const unobserved_reporter unobserved_;
  deadline_queue deadlines_;
  ready_queue due_;
};

}  // namespace ham::detail
