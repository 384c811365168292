// Which of the calls that were taken begins when, and on which thread: in the order of their peers' sending, and never
// nested too deep.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/observed_execution.hpp"
#include "base/own_counters.hpp"
#include "core/batch_reply.hpp"
#include "core/call_stops.hpp"
#include "core/continuation_runner.hpp"
#include "core/message_check.hpp"
#include "core/peer_table.hpp"
#include "core/ping_flow.hpp"
#include "core/reply_sender.hpp"
#include "core/thread_state.hpp"
#include "core/waiter.hpp"
#include "ham/offload/detail/engine_api.hpp"

namespace ham::inline v1::detail {

/// What the dispatcher asks of its node: nothing on the path of a call that begins when it is taken.
class called_node {
 public:
  virtual ~called_node() = default;
  /// Gives a message to the thread of a context. False: there is no such context.
  [[nodiscard]] virtual bool queue_for_context(std::uint32_t context, stored_message message) = 0;
  /// A ping will not run. Its sender has gone on.
  virtual void lose_ping(frame_header head, std::span<const std::byte> payload,
                         std::span<const std::byte> error) noexcept = 0;
  /// The connection to a peer cannot go on. The receiving lock is held.
  virtual void fail_peer(peer& who, const std::string& why) noexcept = 0;
  /// Takes a call of a peer back that waits for the thread of a context.
  [[nodiscard]] virtual std::optional<stored_message> withdraw_from_contexts(const peer& /*from*/,
                                                                             std::uint32_t /*call*/) {
    return std::nullopt;
  }
  /// What calls that can be stopped ask of their node.
  [[nodiscard]] virtual stopped_node* stops() noexcept { return nullptr; }
};

/// A call that may not begin when it is taken waits in its peer's list, behind the rest of a batch that is being
/// executed. A thread at the limit of nesting begins nothing more until its stack has unwound. The receiving lock
/// guards all of it, and is free while a call runs.
class dispatcher {
 public:
  /// The parts of the node that it works with.
  struct parts {
    engine* owner;  ///< that calls find
    node_t self;
    const msg::handler_table& functions;
    peer_table& peers;
    waiter& lock;
    ping_flow& room;
    reply_sender& replies;
    continuation_runner& continuations;
    base::own_counters* counters = nullptr;  ///< nullptr: nobody reads them
    /// Functions of the library's own that write down themselves what they execute.
    std::array<const msg::handler_entry*, 4> observing{};
  };
  dispatcher(called_node& node, const parts& of) noexcept : node_(node), of_(of) {}

  // ---- the receiving lock is held
  /// Whether a message may begin at once with run_at_once(); else it is taken with take().
  [[nodiscard]] bool begins_at_once(const peer& from, frame_header head) const noexcept {
    return head.is_call_of_main_queue() && from.hello_seen && from.waiting == 0 &&
           this_thread.depth < thread_state::max_depth && !must_wait(from);
  }
  /// The call runs on this thread. Throws ham::protocol_error, before it begins.
  void run_at_once(peer& from, frame_header head, std::span<const std::byte> payload) {
    count_executed(from, 1);
    const msg::handler_entry& entry = callable_entry(of_.functions, head.key());
    const std::uint64_t polled_at = this_thread.polled_at;
    const execution scope(*this, from);
    run_call(from, head.id(), payload, entry, nullptr, polled_at);
  }
  /// A call or a batch: begins, is set aside, is given to its context, or is refused. Throws ham::protocol_error.
  void take(peer& from, frame_header head, std::span<const std::byte> payload);
  /// The call of that id is to stop: it is taken out of what waits, and answered, or told.
  void cancel(peer& from, std::uint32_t id);
  /// Begins what was set aside, a bounded number of messages, and no more once `awaited` has settled or a continuation
  /// is due. True if something has begun.
  bool run_deferred(const call_slot* awaited) {
    if (deferred_.load(std::memory_order_relaxed) == 0) [[likely]]
      return false;
    return run_some_deferred(awaited);
  }
  /// Whether a message that was set aside may begin on this thread.
  [[nodiscard]] bool has_runnable() const;
  using function_test = std::function<bool(const msg::handler_entry&)>;
  /// Whether a call that was set aside for the main queue has a function for which `is_meant` is true.
  [[nodiscard]] bool has_deferred_of(const function_test& is_meant) const;

  // ---- any thread
  /// Whether a message that was taken has a call of such a function.
  [[nodiscard]] bool has_call_of(const stored_message& message, const function_test& is_meant) const;
  /// Whether messages are set aside.
  [[nodiscard]] bool has_deferred() const noexcept { return deferred_.load() != 0; }
  /// Runs a message of a context, on the calling thread.
  void run_stored(stored_message& message);
  /// Answers every call of a message with an error instead of running it.
  void refuse(peer& from, frame_header head, std::span<const std::byte> payload, std::span<const std::byte> error);
  /// For a thread that waits at the limit of nesting and finds nothing to do, since `silent_since` (0: is to be set).
  void wait_at_limit(const call_slot* awaited, std::int64_t now_ns, std::int64_t& silent_since);

  /// A copy of the call will be answered by a thread that is not the node's (pooled). Throws ham::call_error if too
  /// much waits already.
  void begin_elsewhere(incoming_call& call);
  void end_elsewhere(incoming_call& call) noexcept;
  /// Whether no more should be set aside without need.
  [[nodiscard]] bool backlog_fills() const noexcept { return of_.room.fills(); }
  [[nodiscard]] bool runs_elsewhere() const noexcept { return pooled_in_flight_.load(std::memory_order_acquire) != 0; }

  /// Whether calls run on threads that have received them.
  [[nodiscard]] bool executing() const noexcept { return executing_.load(std::memory_order_relaxed) > 0; }
  [[nodiscard]] std::uint64_t calls_executed() const noexcept { return executed_.load(std::memory_order_relaxed); }
  /// In a child after fork: nothing is set aside.
  void detach_after_fork() noexcept {
    deferred_ = 0;
    stops_.detach_after_fork();
  }

 private:
  void count_deferred(int more) noexcept {
    deferred_ += static_cast<std::size_t>(more);
    if (of_.counters != nullptr) of_.counters->count_set_aside(more);
  }
  /// While it lives, the calling thread executes user code on behalf of a peer, without the receiving lock. No
  /// continuation runs at its begin: the code would begin late, and what it shall come before might overtake it.
  class execution {
   public:
    execution(dispatcher& at, peer& from) noexcept
        : at_(at),
          from_(from),
          before_(std::exchange(from.executor, base::thread_identity())),
          worked_for_(std::exchange(this_thread.current, at.of_.owner)) {
      ++this_thread.depth;
      this_thread.polled_at = 0;
      at.executing_.store(at.executing_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      at.of_.lock.unlock();
    }
    execution(const execution&) = delete;
    execution& operator=(const execution&) = delete;
    ~execution() {
      --this_thread.depth;
      this_thread.current = worked_for_;
      at_.of_.lock.lock();
      at_.executing_.store(at_.executing_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
      from_.executor = before_;
    }

   private:
    dispatcher& at_;
    peer& from_;
    const void* const before_;
    engine* const worked_for_;
  };

  /// Whether a call of this peer must not begin on the calling thread now.
  [[nodiscard]] static bool must_wait(const peer& from) noexcept {
    const void* const me = base::thread_identity();
    return (from.executor != nullptr && from.executor != me) || this_thread.only_receives;
  }
  /// Not for a peer that must_wait().
  [[nodiscard]] static bool has_waiting(const peer& from) noexcept {
    return !from.deferred.empty() || (from.batch != nullptr && from.batch->left != 0);
  }
  void count_executed(const peer& from, std::uint32_t calls) noexcept {
    base::count_more(from.row->traffic.calls_received, calls);
    executed_.store(executed_.load(std::memory_order_relaxed) + calls, std::memory_order_relaxed);
  }
  /// Without the receiving lock. `polled_at`: the call came behind this count of ticks, at once, so that the clock is
  /// not read while its caller waits; 0: it is read. A trace must not begin before the call was sent.
  [[gnu::always_inline]] void run_call(peer& from, std::uint32_t id, std::span<const std::byte> payload,
                                       const msg::handler_entry& entry, batch_reply* collected = nullptr,
                                       std::uint64_t polled_at = 0) const {
    incoming_call call{of_.owner, &from, payload, id, &entry, collected};
    if (observes_itself(entry)) {
      handle(call);
    } else {
      const bool exact = polled_at == 0 || base::tracing();
      const base::observed_execution observed({of_.self, from.node, entry.key(), id}, of_.counters,
                                              exact ? base::read_ticks() : polled_at, exact);
      handle(call);
    }
  }
  /// Whether a function writes down itself what it executes.
  [[nodiscard]] bool observes_itself(const msg::handler_entry& entry) const noexcept {
    const auto& by_itself = of_.observing;
    return (&entry == by_itself[0] || &entry == by_itself[1] || &entry == by_itself[2] || &entry == by_itself[3]) &&
           !base::tracing();
  }
  static void handle(incoming_call& call) {
    try {
      call.function->handler(&call);
    } catch (...) {
      call_failed(call);
    }
  }
  /// A call, behind its prefix.
  void run_single(peer& from, frame_header head, std::span<const std::byte> payload, std::shared_ptr<call_stop> stop);
  void run_stoppable(peer& from, frame_header head, std::span<const std::byte> payload,
                     std::shared_ptr<call_stop> stop);
  /// Lists a call that can be stopped, while the receiving lock is still held under which its stop would be received.
  /// nullptr: there was no memory, and it was refused.
  [[nodiscard]] std::shared_ptr<call_stop> list_stoppable(peer& from, frame_header head,
                                                          std::span<const std::byte> payload, std::int64_t arrived_ns);
  void take_for_context(peer& from, frame_header head, std::span<const std::byte> payload);
  void execute(peer& from, frame_header head, std::span<const std::byte> payload, std::int64_t arrived_ns);
  void execute_batch(peer& from, frame_header head, std::span<const std::byte> payload);
  void run_all(peer& from, open_batch& batch);
  void run_next(peer& from, open_batch& batch);
  [[nodiscard]] batch_record take_record(open_batch& batch);
  bool run_some_deferred(const call_slot* awaited);
  bool run_first(peer& from);
  [[nodiscard]] bool set_aside(peer& from, frame_header head, std::span<const std::byte> payload);
  [[nodiscard]] std::string no_room() const;
  void defer(peer& from, frame_header head, std::span<const std::byte> payload);
  [[nodiscard]] stored_message take_deferred(peer& from, std::list<stored_message>::iterator which);
  [[nodiscard]] bool was_consumed(const call_slot& awaited) const;
  bool refuse_own(const call_slot& awaited);
  void refuse_newest();
  [[nodiscard]] bool has_record_of(std::span<const std::byte> records, std::uint32_t calls,
                                   const function_test& is_meant) const;

  called_node& node_;
  const parts of_;
  std::atomic<std::size_t> deferred_{0};  ///< messages that are set aside, and batches with calls that have not begun
  std::atomic<int> executing_{0};
  std::atomic<std::uint64_t> executed_{0};
  std::atomic<int> pooled_in_flight_{0};
  call_stops stops_;  ///< of calls that run
};

}  // namespace ham::detail
