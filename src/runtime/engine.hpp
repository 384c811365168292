// The runtime of one node: peers, pending calls, progress, waiting.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/heap.hpp"
#include "core/call_sender.hpp"
#include "core/call_table.hpp"
#include "core/continuation_runner.hpp"
#include "core/dispatcher.hpp"
#include "core/frame_header.hpp"
#include "core/peer_events.hpp"
#include "core/peer_table.hpp"
#include "core/ping_flow.hpp"
#include "core/self_endpoint.hpp"
#include "core/settled_queue.hpp"
#include "core/standby_receiver.hpp"
#include "core/thread_state.hpp"
#include "core/transfer_queue.hpp"
#include "core/transport_set.hpp"
#include "core/waiter.hpp"
#include "core/wire.hpp"
#include "ham/msg/handler_table.hpp"
#include "ham/msg/thread_pool.hpp"
#include "ham/offload/detail/engine_api.hpp"
#include "ham/offload/node.hpp"
#include "runtime/contexts.hpp"
#include "runtime/job.hpp"

namespace ham::detail {

/// One node of a job. All members may be called from any thread unless said otherwise.
///
/// Two kinds of lock: the receiving lock (waiter), held by whoever makes progress (polls transports, settles slots),
/// and one `sending` per peer. User code runs under neither, except codecs: writing runs under `sending`, reading of
/// results under the receiving lock. A codec must not use the offload API.
class engine final : public transport::observer,
                     public called_node,
                     private waiting_node,
                     private served_node,
                     private sending_node {
 public:
  engine(node_t self, std::size_t nodes, std::unique_ptr<base::heap> memory);
  ~engine() override;

  // ---- set-up and end
  /// Adds a transport; the first one is looked at most often. Also while the engine runs.
  void use(std::unique_ptr<transport::transport> transport);
  /// The same under the receiving lock.
  void adopt(std::unique_ptr<transport::transport> transport);
  /// Runs `what` under the receiving lock.
  template <class What>
  void locked(What what) {
    waiter_.lock();
    try {
      what();
    } catch (...) {
      finish_progress();
      throw;
    }
    finish_progress();
  }
  /// True if nobody has begun a connection to `node` yet; then the caller does. The receiving lock is held.
  [[nodiscard]] bool expect(node_t node) {
    if (node < 0 || static_cast<std::size_t>(node) >= peers_.size()) return false;
    peer_state expected = peer_state::unknown;
    peer* const who = peers_.claim(node);
    return who != nullptr && who->state.compare_exchange_strong(expected, peer_state::connecting);
  }
  /// `owner` outlives the engine's last call.
  void belong_to(job* owner) noexcept { job_ = owner; }
  [[nodiscard]] job* its_job() const noexcept { return job_; }
  /// There are more nodes in the job.
  bool grow_to(std::size_t nodes) { return peers_.grow_to(nodes); }
  /// Whether a new node can have this number.
  [[nodiscard]] peer_table::place place_of(node_t node) const noexcept { return peers_.place_of(node); }
  /// Nodes that are met, or expected, and have not been lost; with this one.
  [[nodiscard]] std::size_t living_nodes() const noexcept;
  /// Nodes that can be called, but for this one.
  [[nodiscard]] std::vector<node_t> ready_nodes() const;
  /// What this node tells others in its greeting about where they can connect to it.
  void set_address(std::string address) { address_ = std::move(address); }
  /// What `node` has told of itself; empty: nothing.
  [[nodiscard]] std::string address_of(node_t node) const;
  /// Sends words to the job at another node.
  void send_notice(node_t node, std::span<const std::byte> text) {
    const peer_hold to = peer_of(node);
    reply_with(*to, frame_header::of(wire_kind::notice), text);
  }
  /// Ends the connection to `node` in order, for good.
  void part_with(node_t node, const std::string& reason);
  [[nodiscard]] bool ready(node_t node) const noexcept {
    const peer_hold who = peers_.hold(node);
    return who && who->state.load(std::memory_order_acquire) == peer_state::ready;
  }
  /// Waits until `node` can be called. Throws ham::node_failure.
  void await_ready(node_t node);
  /// The same for one that is expected, until `until_ns`. False: it has not greeted this node by then.
  [[nodiscard]] bool await_ready(node_t node, std::int64_t until_ns);
  /// Executes calls until the host says goodbye or is gone.
  void serve();
  /// Makes serve() return.
  void end() noexcept;
  /// Tells all peers that this node ends, and settles what is pending.
  void leave();
  /// Again: nothing. Any thread.
  void start_progress_thread();
  /// The memory of long messages goes when it was not used for a while. Any thread.
  void used_long_memory() noexcept override;
  /// In a child after fork (forks.hpp): nothing here reaches the parent's job any more.
  void detach_after_fork() noexcept;
  void set_one_sided(bool on) noexcept { one_sided_ = on; }
  /// Longer messages are not taken. Before the first connection.
  void limit_messages(std::size_t bytes) noexcept {
    message_limit_ = bytes;
    flow_.limit(largest_set_aside * bytes);
  }
  [[nodiscard]] std::size_t message_limit() const noexcept { return message_limit_; }

  // ---- information
  [[nodiscard]] node_t self() const noexcept { return self_; }
  /// Differs from that of any other engine of this process, also of those that have ended.
  [[nodiscard]] std::uint64_t serial() const noexcept { return serial_; }
  [[nodiscard]] std::size_t num_nodes() const noexcept { return peers_.size(); }
  [[nodiscard]] offload::node_descriptor describe(node_t node);
  [[nodiscard]] bool alive(node_t node);
  [[nodiscard]] offload::statistics statistics() const;
  [[nodiscard]] base::heap& memory() noexcept { return *heap_; }
  [[nodiscard]] contexts& thread_contexts() noexcept { return contexts_; }
  /// What calls to other nodes go through.
  [[nodiscard]] call_sender& calls_out() noexcept { return sender_; }
  /// What calls that have been received go through.
  [[nodiscard]] dispatcher& calls_in() noexcept { return dispatcher_; }
  /// Of what is set aside.
  [[nodiscard]] ping_flow& flow() noexcept { return flow_; }
  /// The receiver that stands in for the serving thread.
  [[nodiscard]] standby_receiver& standby() noexcept { return standby_; }
  /// The calling thread is the one that wakes up on the node's core, if the node has got one.
  void live_at_home() noexcept { waiter_.adopt_home_core(); }
  /// One-sided access to the memory of a connected node for the calling thread, or nullptr. Stays as long as `who`.
  [[nodiscard]] transport::remote_memory* memory_of(const peer& who) const noexcept {
    return one_sided_ && who.memory != nullptr && who.memory->open_to_me() ? who.memory.get() : nullptr;
  }
  /// The record of a connected node. Throws ham::node_failure.
  [[nodiscard]] peer_hold peer_of(node_t node) {
    peer_hold who = peers_.hold(node);
    if (who && who->state.load(std::memory_order_acquire) == peer_state::ready) [[likely]]
      return who;
    return make_ready(node);
  }
  /// Accesses to the memory of other nodes that go on beside their callers.
  [[nodiscard]] transfer_queue& transfers() noexcept { return transfers_; }
  /// How many bytes of messages the node has consumed, as its endpoint counts them.
  [[nodiscard]] std::uint64_t consumed_by(const peer& who) {
    std::uint64_t position = 0;
    locked([&] { position = who.to == nullptr ? 0 : who.to->consumed(); });
    return position;
  }
  /// Its process, if that is one of this machine; else negative.
  [[nodiscard]] std::int64_t local_process(const peer& who) const;
  /// A one-sided access to `node` found no peer any more: throws the ham::node_failure of the node, which may have got
  /// some of the bytes.
  [[noreturn]] void fail_access(node_t node);
  /// The same on a thread that must not run calls and continuations.
  [[noreturn]] void fail_background_access(peer& who);
  void count_put(std::size_t bytes) noexcept { bytes_put_.fetch_add(bytes, std::memory_order_relaxed); }
  void count_got(std::size_t bytes) noexcept { bytes_got_.fetch_add(bytes, std::memory_order_relaxed); }

  // ---- replies (engine_replies.cpp)
  void finish_reply(frame_header head, reply_room& out) noexcept;
  void reply_with(peer& to, frame_header head, std::span<const std::byte> bytes) noexcept override;

  // ---- slots (engine_slots.cpp)
  [[nodiscard]] call_table& calls() noexcept { return calls_; }
  void settle_local(call_slot& slot, slot_state outcome) noexcept;
  /// The same from a thread of the library's own: the thread that polls settles it, and what waits for it goes on
  /// there.
  void settle_background(call_slot& slot, slot_state outcome) noexcept;
  void attach(call_slot& slot, continuation* what);

  // ---- progress and waiting (engine.cpp, engine_sleep.cpp)
  /// Handles what has arrived, and what is due by the clock, without waiting.
  void poll_once();
  /// Makes progress until the call has settled or the time has come. True if it has settled.
  bool wait(call_slot& slot, std::int64_t until_ns);

  // ---- receiving (engine_receive.cpp)
  /// The peer broke the rules: closes its endpoint. Any thread.
  void fail_peer(peer& who, const std::string& why) noexcept;

  // ---- transport::observer
  void on_connected(transport::endpoint& with) override;
  void on_broken(node_t peer, const std::string& reason) override;
  void on_lost(node_t peer, const std::string& reason) override;
  void on_died(node_t peer, const std::string& reason) override;

 private:
  /// Handles what has arrived, at most a bounded number of frames, and not more once `awaited` has settled. True if
  /// something was done.
  bool progress(const call_slot* awaited);
  /// Makes progress until done() or the time has come.
  template <class Done>
  bool wait_until(Done done, std::int64_t until_ns, const call_slot* awaited = nullptr);
  bool await_settled(call_slot& slot, std::int64_t until_ns);
  bool wait_in_pool(call_slot& slot, std::int64_t until_ns);
  bool await_greeting(peer& who, std::int64_t until_ns);
  /// Takes note of peers that transports have reported as lost.
  void notice_losses() {
    if (events_.pending()) [[unlikely]]
      take_notice();
  }
  peer_hold peer_for(node_t node);
  std::exception_ptr loss_of(peer& who, const msg::handler_entry* function, std::uint32_t call,
                             call_outcome outcome) noexcept override;
  std::exception_ptr describe_loss(peer& who, const msg::handler_entry* function, std::uint32_t call,
                                   call_outcome outcome);
  /// Gives the receiving lock back and runs the continuations of what has settled.
  void finish_progress() override {
    waiter_.unlock();
    if (continuations_.due()) [[unlikely]]
      continuations_.run();
  }
  transport::endpoint* next_frame(transport::frame& out, unsigned polls) {
    if (transport::endpoint* const from = transports_.poll(out, polls)) return from;
    return self_endpoint_.poll(out) ? &self_endpoint_ : nullptr;
  }
  void receive(transport::endpoint& from, const transport::frame& frame);
  void receive_message(peer& from, frame_header head, std::span<const std::byte> payload);
  void receive_batch_reply(peer& from, std::span<const std::byte> payload);
  void settle_reply(peer& from, std::uint32_t call, bool failed, std::span<const std::byte> payload);
  void receive_hello(peer& from, std::span<const std::byte> payload);
  void receive_manifest(peer& from, std::span<const std::byte> payload);
  bool refuse_queued();

  void end_transfers() noexcept;
  bool handle_events() noexcept;
  void handle(peer_event& what) noexcept;
  void leave_unanswered(frame_header head, std::span<const std::byte> bytes) noexcept;
  void connected(transport::endpoint& with);
  void lost(peer& who, std::string reason, peer_end how) noexcept;
  void settle_lost(peer& who, const transport::endpoint* gone, peer_end how) noexcept;
  void mark_unsent(const message_list& messages) noexcept;
  void send_hello(peer& to);
  void become_ready(peer& who);
  void settle_the_rest();
  void notice_long(const transport::endpoint& from, std::size_t size);
  void expire_deadlines(std::int64_t now);
  void expire(call_slot& slot) noexcept;

  // ---- waiting_node and served_node (engine_sleep.cpp)
  std::int64_t check_clock(std::int64_t now, const call_slot* awaited, std::int64_t& silent_since) override;
  [[nodiscard]] bool wakes_up(const call_slot& awaited) noexcept override;
  [[nodiscard]] bool oversubscribed() const noexcept override { return transports_.oversubscribed(); }
  [[nodiscard]] bool has_deferred() const noexcept override { return dispatcher_.has_deferred(); }
  [[nodiscard]] bool has_runnable() const override { return dispatcher_.has_runnable(); }
  [[nodiscard]] bool connected() const noexcept override { return !transports_.empty(); }
  [[nodiscard]] bool arm() override;
  void disarm() noexcept override { transports_.disarm(); }
  [[nodiscard]] std::int64_t next_wakeup_ns() const noexcept override;
  [[nodiscard]] int home_core() const noexcept override { return oversubscribed() ? -1 : transports_.home_core(); }
  void trim_long_memory(std::int64_t now) noexcept;
  [[nodiscard]] bool serving() const noexcept override { return serving_.load(std::memory_order_acquire); }
  [[nodiscard]] bool stopping() const noexcept override { return stop_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool executing() const noexcept override { return dispatcher_.executing(); }
  [[nodiscard]] std::uint64_t calls_executed() const noexcept override { return dispatcher_.calls_executed(); }
  bool receive() override { return progress(); }

  // ---- sending_node
  peer_hold make_ready(node_t node) override;
  void take_notice() override;
  bool progress() override { return progress(nullptr); }
  [[noreturn]] void throw_lost(peer& who, const msg::handler_entry* function, call_outcome outcome);

  // ---- called_node (engine_receive.cpp)
  [[nodiscard]] bool queue_for_context(std::uint32_t context, stored_message message) override {
    return contexts_.push(context, std::move(message));
  }
  void lose_ping(frame_header head, std::span<const std::byte> payload,
                 std::span<const std::byte> error) noexcept override;

  const node_t self_;
  const std::uint64_t serial_;
  std::unique_ptr<base::heap> heap_;
  transport_set transports_;
  job* job_ = nullptr;
  std::string address_;
  peer_table peers_;
  peer& own_;  ///< this node's own record, which stays
  self_endpoint self_endpoint_;
  static constexpr std::size_t largest_set_aside = 16;  // of the longest messages
  ping_flow flow_;
  std::atomic<bool> told_of_lost_pings_{false};
  contexts contexts_;
  const msg::handler_table* table_;
  bool one_sided_ = true;
  std::size_t message_limit_ = transport::usual_message_limit;
  bool detached_ = false;

  waiter waiter_;  ///< and the receiving lock
  standby_receiver standby_;
  call_table calls_;
  continuation_runner continuations_;
  dispatcher dispatcher_;
  transfer_queue transfers_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> leaving_{false};

  // Under the receiving lock.
  std::vector<std::vector<std::byte>> spare_buffers_;
  static constexpr std::size_t long_message = std::size_t{128} << 10;
  std::atomic<std::int64_t> trim_at_ns_{base::never_ns};  ///< when the memory of long messages goes; any thread

  peer_events events_;
  call_sender sender_;
  settled_queue settled_;
  std::exception_ptr nameless_loss_;  ///< for want of memory to say more
  std::exception_ptr no_memory_;

  std::mutex mutex_;  ///< guards the next
  std::thread progress_thread_;
  std::atomic<bool> serving_{false};

  std::atomic<std::uint64_t> bytes_put_{0}, bytes_got_{0};
};

}  // namespace ham::detail
