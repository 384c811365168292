// The runtime of one node: peers, pending calls, progress, waiting.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/own_counters.hpp"
#include "core/batch_sender.hpp"
#include "core/call_sender.hpp"
#include "core/call_table.hpp"
#include "core/connections.hpp"
#include "core/continuation_runner.hpp"
#include "core/dispatcher.hpp"
#include "core/event_reports.hpp"
#include "core/fault_injector.hpp"
#include "core/frame_header.hpp"
#include "core/handshake.hpp"
#include "core/long_memory_timer.hpp"
#include "core/message_receiver.hpp"
#include "core/node_waits.hpp"
#include "core/outgoing_replies.hpp"
#include "core/peer_events.hpp"
#include "core/peer_table.hpp"
#include "core/ping_flow.hpp"
#include "core/relay_forwarder.hpp"
#include "core/relay_transport.hpp"
#include "core/replacements.hpp"
#include "core/reply_reader.hpp"
#include "core/routes.hpp"
#include "core/self_endpoint.hpp"
#include "core/settled_queue.hpp"
#include "core/standby_receiver.hpp"
#include "core/thread_state.hpp"
#include "core/transport_set.hpp"
#include "core/waiter.hpp"
#include "core/wire.hpp"
#include "ham/msg/handler_table.hpp"
#include "ham/msg/thread_pool.hpp"
#include "ham/offload/detail/engine_api.hpp"
#include "ham/offload/node.hpp"
#include "runtime/contexts.hpp"
#include "runtime/graph_parts.hpp"
#include "runtime/group_calls.hpp"
#include "runtime/job.hpp"
#include "runtime/node_memory.hpp"
#include "runtime/repeated_calls.hpp"

namespace ham::inline v1::detail {

/// One node of a job. All members may be called from any thread unless said otherwise.
///
/// Three kinds of lock: the receiving lock (waiter), held by whoever makes progress (polls transports, settles slots);
/// one `sending` per peer; and one `reading` per peer, once several threads wait for replies. User code runs under none
/// of them, except codecs: writing runs under `sending`, reading of results under the receiving lock or `reading`. A
/// codec must not use the offload API.
class engine final : public called_node,
                     private connected_node,
                     private waiting_node,
                     private served_node,
                     private sending_node,
                     private relaying_node,
                     private receiving_node,
                     private stopped_node {
 public:
  engine(node_t self, std::size_t nodes, std::unique_ptr<base::heap> memory);
  ~engine() override;

  // ---- set-up and end
  /// Adds a transport; the first one is polled most often. Also while the engine runs.
  void use(std::unique_ptr<transport::transport> transport);
  /// The same under the receiving lock.
  void adopt(std::unique_ptr<transport::transport> transport);
  /// Runs `what` under the receiving lock.
  template <class What>
  void locked(What what) {
    waits.lock();
    waits.rouse();
    try {
      what();
    } catch (...) {
      finish_progress();
      throw;
    }
    finish_progress();
  }
  /// Longer messages are not taken. Before the first connection.
  void limit_messages(std::size_t bytes) noexcept {
    greetings.limit_messages(bytes);
    flow.limit(largest_set_aside * bytes);
  }
  /// Executes calls until the host says goodbye or is gone, or the service is interrupted. `first`, if there is one, is
  /// called before any wait.
  void serve(const std::function<void()>& first = {});
  /// Makes serve() return, while the node goes on.
  void interrupt_service() noexcept;
  /// The loss of `node`, in whatever way, makes serve() return, too.
  void end_with(node_t node) noexcept { ends_with_.store(node, std::memory_order_release); }
  /// Makes serve() return.
  void end() noexcept;
  /// Whether there is nothing left to serve.
  [[nodiscard]] bool has_ended() const noexcept { return stop_.load(std::memory_order_acquire); }
  /// Whether it has ended, or is about to.
  [[nodiscard]] bool is_ending() const noexcept { return has_ended() || leaving_.load(); }
  /// Tells all peers that this node ends, and settles what is pending.
  void leave();
  /// Again: nothing. Any thread.
  void start_progress_thread();
  /// In a child after fork (forks.hpp): nothing here reaches the parent's job any more.
  void detach_after_fork() noexcept;
  /// Behind a call: if its function forked, and this is the child, which came back out of it, the process ends.
  void end_forked_child() const noexcept;

  // ---- other nodes
  [[nodiscard]] node_t self() const noexcept { return self_; }
  /// The record of a connected node. Throws ham::node_failure, and ham::deadline_exceeded or ham::operation_cancelled
  /// if it is not connected within the limit.
  [[nodiscard]] peer_hold peer_of(node_t node, const wait_limit& limit = {}) {
    peer_hold who = peers.hold(node);
    if (who && who->state.load(std::memory_order_acquire) == peer_state::ready) [[likely]]
      return who;
    return connected_peer(node, limit);
  }
  /// The process that calls to a number go to; waits while another one is started. Negative: not within the limit.
  /// Throws ham::node_failure.
  [[nodiscard]] node_t process_of(node_t number, const wait_limit& limit = {}) {
    return numbers.any() ? await_process(number, limit) : number;
  }
  /// For a call to that process alone.
  [[nodiscard]] node_t exactly(node_t process) const noexcept {
    return numbers.any() && process >= 0 ? process | exact_bit : process;
  }
  /// As process_of, for who makes a handle, until the deadline of `on`, or until the token, if there is one, is
  /// stopped. Throws ham::deadline_exceeded, ham::operation_cancelled.
  [[nodiscard]] node_t process_of_handle(const offload::destination& on, const std::stop_token* token = nullptr);
  /// For who uses a handle with that node in it. Throws ham::node_failure if its process has gone, and another one has
  /// its number.
  void expect_no_other_process(node_t node) {
    if (numbers.any()) [[unlikely]]
      refuse_old_handle(node);
  }
  /// The number that has another process instead of this one by now, or waits for one; negative: there is none.
  [[nodiscard]] node_t number_of_replaced(node_t process) const;
  /// Waits until `node` can be called. Throws ham::node_failure. False: it is expected, but has not greeted this node
  /// by `until_ns`.
  bool await_ready(node_t node, std::int64_t until_ns = base::never_ns);
  /// Begins a connection to `node` through another one (routes).
  void connect_through_others(node_t node);
  /// Ends the connection to `node` in order, for good. `how`: peer_end::left if that is what the program wants.
  void part_with(node_t node, const std::string& reason, peer_end how = peer_end::connection_lost);
  /// A one-sided access found no peer any more: throws the ham::node_failure of the node, which may have got some of
  /// the bytes.
  [[noreturn]] void fail_access(peer& who);
  /// The same of a loss that has been noted, or has been waited for in vain.
  [[noreturn]] void throw_loss(peer& who) { throw_lost(who, nullptr, call_outcome::may_have_run); }
  /// Of a process that has said that it ends: `what` is run once its loss has been noted, and the job has been told, or
  /// when that takes too long, or at the deadline (0: none), or when this node ends. False: it has been noted already,
  /// or will not be told here, and `what` is not run. From a thread without a lock.
  [[nodiscard]] bool run_when_lost(node_t process, continuation* what, std::int64_t deadline_ns = 0) noexcept;
  /// Takes note of losses unless another thread does; whether that of `who` has been noted. Runs nothing that waits.
  [[nodiscard]] bool notice_loss(peer& who) noexcept;
  /// Takes note of peers that transports have reported as lost, unless another thread does.
  void take_notice() override;

  // ---- progress and waiting (engine.cpp, engine_sleep.cpp)
  /// Handles what has arrived, and what is due by the clock, without waiting. True if something has arrived.
  bool poll_once();
  /// The same until the time has come; sleeps meanwhile.
  void progress_until(std::int64_t until_ns) {
    wait_until([until_ns] { return base::now_ns() >= until_ns; }, until_ns);
  }
  /// The same until there is none of them; who takes the last one wakes this.
  void progress_while(const std::atomic<unsigned>& any) {
    wait_until([&any] { return any.load() == 0; }, base::never_ns);
  }
  /// Also for waiting_node and sending_node: more threads want to run than there are cores.
  [[nodiscard]] bool oversubscribed() const noexcept override { return transports_.oversubscribed(); }
  /// Makes progress until the call has settled or the time has come. True if it has settled.
  bool wait(call_slot& slot, std::int64_t until_ns);

  /// For call_table: calls look() while no other thread settles calls to a node. The receiving lock is held.
  [[nodiscard]] auto settling_alone_with() noexcept {
    return [this](node_t node, auto look) {
      const settling_alone nobody_else(peers.at_place_of(node));
      look();
    };
  }
  /// What runs when a call has settled. True: it has, and `what` is due.
  [[nodiscard]] bool attach(call_slot& slot, continuation* what) noexcept;

  // ---- stopping calls of this node (engine_stops.cpp)
  /// False: it has settled, or cannot be stopped. Runs what has settled.
  bool stop(call_slot& slot, offload::when_stopped how) noexcept;
  /// The same by its id, and runs nothing. Without `how`: it was made by a call that is stopped.
  void stop_call(std::uint32_t call, std::optional<offload::when_stopped> how) noexcept;
  /// A message of a transfer is not waited for any more: it fails with ham::operation_cancelled, `not_run` if it has
  /// not left. What comes of it later is dropped. Any thread.
  void drop_message(std::uint32_t call) noexcept;
  /// For a thread that executes a function: receives some of what has arrived, if no other thread does, or all, once no
  /// other does, and begins nothing of it. The thread holds no lock.
  void receive_stops(bool all) noexcept override;
  /// Calls whose deadlines have passed fail. The thread holds no lock.
  void expire_deadlines(std::int64_t now);
  /// Ends the process of the node that executes it, as end_hanging. False: of one that is repeated, no call is under
  /// way. Throws ham::call_error if this node cannot, std::system_error.
  bool kill(const call_slot& slot);
  /// Kills the process of a node that hangs, or breaks the connection to it where that is not of this machine.
  void end_hanging(node_t node, const std::string& why) noexcept;
  /// What the process of a node executes and did last, in words, where this node can read its flight recorder; else
  /// empty. The receiving lock is held. Throws std::bad_alloc.
  [[nodiscard]] std::string activity_of(node_t node) const;
  /// For offload::on_event: something that is no call has missed its deadline. Any thread.
  void report_missed(node_t node, std::string_view what) noexcept {
    if (!reports.wanted()) return;
    reports.add(offload::event_kind::deadline_missed, node, what);
    waits.wake_if_asleep();  // this thread may make no progress for a while
  }

 private:
  /// Handles what has arrived, at most a bounded number of frames, and not more once `awaited` has settled. True if
  /// something was done. `all`: polls all endpoints at least once, also those that other threads poll.
  bool progress(const call_slot* awaited, bool all = false);
  [[gnu::noinline]] polled_reply poll_alone(const call_slot& awaited);
  void receive_further(const call_slot& awaited);
  [[gnu::noinline]] bool progress_beside_other(const call_slot* awaited);
  [[gnu::noinline]] void end_polling_alone(const call_slot* awaited) noexcept;
  /// Makes progress until done() or the time has come.
  template <class Done>
  bool wait_until(Done done, std::int64_t until_ns, const call_slot* awaited = nullptr) {
    return waits.wait_until(
        done, [this, awaited] { return progress(awaited); }, until_ns, awaited);
  }
  /// The same, at most until the limit.
  template <class Done>
  bool wait_within(const wait_limit& limit, Done done, std::int64_t until_ns = base::never_ns) {
    constexpr std::int64_t look_ns = 10'000'000;  // nobody wakes who waits here when a token is stopped
    const std::int64_t end_ns = std::min(until_ns, limit.late_ns());
    if (!limit.can_stop()) return wait_until(done, end_ns);
    for (std::int64_t now = base::now_ns(); !limit.at_once && !limit.stopped() && now < end_ns; now = base::now_ns())
      if (wait_until(done, std::min(end_ns, now + look_ns))) return true;
    return done();
  }
  [[gnu::noinline]] bool wait_traced(call_slot& slot, std::int64_t until_ns);
  bool wait_untraced(call_slot& slot, std::int64_t until_ns);
  bool await_settled(call_slot& slot, std::int64_t until_ns);
  bool wait_in_pool(call_slot& slot, std::int64_t until_ns);
  void await_loss(peer& who, std::int64_t until_ns);
  bool await_greeting(peer& who, std::int64_t until_ns);
  peer_hold peer_for(node_t node);
  bool learn_of(node_t node, const wait_limit& limit);
  peer_hold connected_peer(node_t node, const wait_limit& limit);
  node_t process_of_supervised(const call_place& to, const wait_limit& limit);
  node_t await_process(node_t number, const wait_limit& limit);
  void refuse_old_handle(node_t node);
  [[nodiscard]] bool is_lost(node_t process) const noexcept;
  bool connect(peer& to, const wait_limit& limit);
  /// Gives the receiving lock back and runs the continuations of what has settled.
  void finish_progress() override {
    waits.unlock();
    if (continuations.due()) [[unlikely]]
      continuations.run();
  }
  transport::endpoint* next_frame(transport::frame& out, unsigned polls) {
    if (transport::endpoint* const from = transports_.poll(out, polls)) return from;
    return self_endpoint_.poll(out) ? &self_endpoint_ : nullptr;
  }
  bool refuse_queued();

  void end_transfers() noexcept;
  void settle_the_rest();
  [[nodiscard]] std::int64_t next_due_ns() const noexcept {
    return std::min({calls.next_deadline_ns(), losses.next_ns(), numbers.next_ns()});
  }
  void expire(call_slot& slot) noexcept;
  void report_missed(const call_slot& slot) noexcept;
  void stop_if(std::uint32_t call, std::optional<offload::when_stopped> how, const nested_call* made) noexcept;
  bool stop_locked(call_slot& slot, std::uint32_t call, std::optional<offload::when_stopped> how,
                   const nested_call* made = nullptr) noexcept;
  bool stop_group(const call_slot& future, offload::when_stopped how) noexcept;
  bool stop_repeated(const call_slot& future, offload::when_stopped how) noexcept;
  void send_stop(peer& to, std::uint32_t call) noexcept;
  void kill_process_of(node_t node);

  // ---- waiting_node and served_node (engine_sleep.cpp)
  std::int64_t check_clock(std::int64_t now, const call_slot* awaited, std::int64_t& silent_since) override;
  [[nodiscard]] bool wakes_up(const call_slot& awaited) noexcept override;
  [[nodiscard]] bool has_deferred() const noexcept override { return calls_in.has_deferred(); }
  [[nodiscard]] bool has_runnable() const override { return calls_in.has_runnable(); }
  bool run_deferred(const call_slot* awaited) override { return calls_in.run_deferred(awaited); }
  [[nodiscard]] bool connected() const noexcept override { return !transports_.empty(); }
  [[nodiscard]] bool arm() override;
  void disarm() noexcept override { transports_.disarm(); }
  [[nodiscard]] std::int64_t next_wakeup_ns() const noexcept override;
  [[nodiscard]] int home_core() const noexcept override { return oversubscribed() ? -1 : transports_.home_core(); }
  void trim_long_memory(std::int64_t now) noexcept;
  [[nodiscard]] bool serving() const noexcept override { return serving_.load(std::memory_order_acquire); }
  [[nodiscard]] bool stopping() const noexcept override { return stop_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool executing() const noexcept override { return calls_in.executing(); }
  [[nodiscard]] std::uint64_t calls_executed() const noexcept override { return calls_in.calls_executed(); }
  bool receive() override { return progress(); }

  // ---- sending_node
  peer_hold make_ready(node_t node, const wait_limit& limit) override;
  [[nodiscard]] node_t process_for(const call_place& to, const wait_limit& limit) override {
    if (numbers.any()) return process_of_supervised(to, limit);
    return numbers.version() == 0 ? to.node : without_exact_bit(to.node);  // until just now there were some
  }
  void stop_call(std::uint32_t call) noexcept override { stop_call(call, std::nullopt); }
  void ask_for_functions(node_t node, std::int64_t deadline_ns) override;  // libraries.cpp
  [[nodiscard]] const msg::handler_entry* asking_function() const noexcept override;
  bool progress() override { return progress(nullptr); }
  [[noreturn]] void throw_lost(peer& who, const msg::handler_entry* function, call_outcome outcome) {
    std::rethrow_exception(loss_of(who, function, 0, outcome));
  }

  // ---- sending_node and receiving_node
  bool break_peer(peer& who, const base::fault_rule& by) override;

  // ---- connected_node
  [[nodiscard]] bool ends_with(node_t node) const noexcept override {
    return self_ != 0 && (node == 0 || node == ways.starter());
  }
  void lose_host() noexcept override { stop_.store(true, std::memory_order_release); }
  [[nodiscard]] bool leaving() const noexcept override { return leaving_.load(); }
  [[nodiscard]] node_t supervised_number(node_t process) const override { return numbers.number_at_start(process); }
  void after_loss(node_t node, const std::string& why, peer_end how) noexcept override;
  [[nodiscard]] relay_transport& relay();

  // ---- relaying_node
  void approach(node_t neighbour) noexcept override;

  // ---- receiving_node (engine_peers.cpp, engine_receive.cpp)
  bool handle_events() noexcept override;
  [[nodiscard]] std::exception_ptr loss_of(peer& who, const msg::handler_entry* function, std::uint32_t call,
                                           call_outcome outcome) noexcept override {
    return all_connections.loss_of(who, function, call, outcome);
  }
  void welcome(peer& who) override;
  void receive_notice(peer& from, std::span<const std::byte> text) override;
  void receive_relayed(peer& from, frame_header head, std::span<const std::byte> payload) override;
  void receive_replayed(peer& from, frame_header head, std::span<const std::byte> payload) override;
  void receive_goodbye(peer& from, std::span<const std::byte> text) override;
  void fail_peer(peer& who, const std::string& why) noexcept override { all_connections.fail(who, why); }
  void used_long_memory() noexcept override { long_messages.start(); }

  // ---- stopped_node (engine_stops.cpp), but for receive_stops
  void stop_nested(const nested_call& call) noexcept override;
  void stop_nested_locked(const nested_call& call) noexcept override;
  void drop_settled(std::vector<nested_call>& these) noexcept override;
  void count_stoppable(int more) noexcept override { calls_out.count_stoppable(more); }

  // ---- called_node (engine_receive.cpp)
  [[nodiscard]] std::optional<stored_message> withdraw_from_contexts(const peer& from, std::uint32_t call) override {
    return thread_contexts.withdraw(from, call);
  }
  [[nodiscard]] stopped_node* stops() noexcept override { return this; }
  [[nodiscard]] bool queue_for_context(std::uint32_t context, stored_message message) override {
    return thread_contexts.push(context, std::move(message));
  }
  void lose_ping(frame_header head, std::span<const std::byte> payload,
                 std::span<const std::byte> error) noexcept override;

  const node_t self_;
  const msg::handler_table* const table_;

 public:
  // ---- its parts, which others may use; in the order in which they are made
  /// Differs from that of any other engine of this process, also of those that have ended.
  const std::uint64_t serial;
  /// The job that it belongs to, if there is one; outlives the engine's last call.
  job* owner = nullptr;
  /// Threads that settle something of it right now (held_engine); it does not go before they have.
  std::atomic<int> holders{0};
  base::own_counters counters;  ///< that tools read
  node_memory memory;  ///< outlives the transports, which others reach it by; its transfers end in the destructor

 private:
  transport_set transports_;

 public:
  peer_table peers;
  peer& own;                 ///< this node's own record, which stays
  routes ways;               ///< who passes on what is for others
  peer_events events;        ///< what its transports tell
  outgoing_replies replies;  ///< what leaves a call that has been received
  ping_flow flow;            ///< of what is set aside
  fault_injector faults;     ///< that users ask for
  contexts thread_contexts;
  waiter waits;              ///< and the receiving lock
  standby_receiver standby;  ///< stands in for the serving thread
  call_table calls;
  continuation_runner continuations;
  replacements numbers;             ///< which processes supervised numbers stand for
  node_waits losses;                ///< of processes that have said that they end
  event_reports reports;            ///< what the program is told of nodes
  dispatcher calls_in;              ///< what calls that have been received go through
  handshake greetings;              ///< what nodes tell each other when they meet
  connections all_connections;      ///< and what becomes of calls when nodes are lost
  call_sender calls_out;            ///< what calls to other nodes go through
  batch_sender batches_out;         ///< the same, of calls that go together
  settled_queue settled;            ///< calls that threads of the library have settled
  long_memory_timer long_messages;  ///< when the memory of long messages goes

 private:
  static constexpr std::size_t largest_set_aside = 16;  // of the longest messages
  self_endpoint self_endpoint_;
  message_receiver receiver_;
  reply_reader replies_alone_;  ///< of threads that wait while another one polls
  relay_forwarder forwarder_;
  relay_transport* relay_ = nullptr;  ///< once it was needed; one of `transports_`
  std::exception_ptr no_memory_;
  bool detached_ = false;
  std::atomic<bool> told_of_lost_pings_{false};
  std::atomic<bool> stop_{false};
  std::atomic<bool> interrupted_{false};
  std::atomic<node_t> ends_with_{-1};
  std::atomic<bool> leaving_{false};
  std::mutex mutex_;  ///< guards the next
  std::thread progress_thread_;
  std::atomic<bool> serving_{false};

 public:
  graph_parts graphs{*this, *this, calls.due()};  ///< its parts of recorded graphs
  started_groups groups;                          ///< calls of groups that it has made
  repeated_calls repeated;                        ///< calls that it sends again when their process is lost
};

/// From a thread of the library's own: the thread that polls settles it, and what waits for it goes on there.
void settle_background(engine& at, call_slot& slot, slot_state outcome) noexcept;

}  // namespace ham::detail
