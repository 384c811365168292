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

#include "core/call_sender.hpp"
#include "core/call_table.hpp"
#include "core/connections.hpp"
#include "core/continuation_runner.hpp"
#include "core/dispatcher.hpp"
#include "core/frame_header.hpp"
#include "core/handshake.hpp"
#include "core/message_receiver.hpp"
#include "core/outgoing_replies.hpp"
#include "core/peer_events.hpp"
#include "core/peer_table.hpp"
#include "core/ping_flow.hpp"
#include "core/relay_forwarder.hpp"
#include "core/relay_transport.hpp"
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
#include "runtime/job.hpp"
#include "runtime/node_memory.hpp"

namespace ham::detail {

/// One node of a job. All members may be called from any thread unless said otherwise.
///
/// Two kinds of lock: the receiving lock (waiter), held by whoever makes progress (polls transports, settles slots),
/// and one `sending` per peer. User code runs under neither, except codecs: writing runs under `sending`, reading of
/// results under the receiving lock. A codec must not use the offload API.
class engine final : public called_node,
                     private connected_node,
                     private waiting_node,
                     private served_node,
                     private sending_node,
                     private receiving_node {
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
  /// `owner` outlives the engine's last call.
  void belong_to(job* owner) noexcept { job_ = owner; }
  [[nodiscard]] job* its_job() const noexcept { return job_; }
  /// Sends words to the job at another node.
  void send_notice(node_t node, std::span<const std::byte> text) {
    const peer_hold to = peer_of(node);
    replies_.reply_with(*to, frame_header::of(wire_kind::notice), text);
  }
  /// Ends the connection to `node` in order, for good.
  void part_with(node_t node, const std::string& reason);
  /// Begins a connection to `node` through the host. Not on the host.
  void connect_through_host(node_t node);
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
  /// Longer messages are not taken. Before the first connection.
  void limit_messages(std::size_t bytes) noexcept {
    handshake_.limit_messages(bytes);
    flow_.limit(largest_set_aside * bytes);
  }
  [[nodiscard]] std::size_t message_limit() const noexcept { return handshake_.message_limit(); }

  // ---- information
  [[nodiscard]] node_t self() const noexcept { return self_; }
  /// Differs from that of any other engine of this process, also of those that have ended.
  [[nodiscard]] std::uint64_t serial() const noexcept { return serial_; }
  [[nodiscard]] std::size_t num_nodes() const noexcept { return peers_.size(); }
  [[nodiscard]] offload::node_descriptor describe(node_t node);
  [[nodiscard]] bool alive(node_t node);
  [[nodiscard]] offload::statistics statistics() const;
  [[nodiscard]] node_memory& memory() noexcept { return memory_; }
  [[nodiscard]] peer_table& peers() noexcept { return peers_; }
  /// What its transports tell.
  [[nodiscard]] peer_events& events() noexcept { return events_; }
  /// What nodes tell each other when they meet.
  [[nodiscard]] handshake& greetings() noexcept { return handshake_; }
  [[nodiscard]] contexts& thread_contexts() noexcept { return contexts_; }
  /// What calls to other nodes go through.
  [[nodiscard]] call_sender& calls_out() noexcept { return sender_; }
  /// What leaves a call that has been received.
  [[nodiscard]] outgoing_replies& replies() noexcept { return replies_; }
  /// What calls that have been received go through.
  [[nodiscard]] dispatcher& calls_in() noexcept { return dispatcher_; }
  /// Of what is set aside.
  [[nodiscard]] ping_flow& flow() noexcept { return flow_; }
  /// The receiver that stands in for the serving thread.
  [[nodiscard]] standby_receiver& standby() noexcept { return standby_; }
  /// The calling thread is the one that wakes up on the node's core, if the node has got one.
  void live_at_home() noexcept { waiter_.adopt_home_core(); }
  /// The record of a connected node. Throws ham::node_failure.
  [[nodiscard]] peer_hold peer_of(node_t node) {
    peer_hold who = peers_.hold(node);
    if (who && who->state.load(std::memory_order_acquire) == peer_state::ready) [[likely]]
      return who;
    return make_ready(node);
  }
  /// How many bytes of messages the node has consumed, as its endpoint counts them. Where that is unknown, how many it
  /// has sent: it grows as well while the node answers.
  [[nodiscard]] std::uint64_t consumed_by(const peer& who) {
    std::uint64_t position = 0;
    locked([&] { position = who.to == nullptr ? 0 : who.to->consumed(); });
    return position == UINT64_MAX ? who.bytes_received.bytes() : position;
  }
  /// Its process, if that is one of this machine; else negative.
  [[nodiscard]] std::int64_t local_process(const peer& who) const { return connections_.local_process(who); }
  /// A one-sided access to `node` found no peer any more: throws the ham::node_failure of the node, which may have got
  /// some of the bytes.
  [[noreturn]] void fail_access(node_t node);
  /// The same on a thread that must not run calls and continuations.
  [[noreturn]] void fail_background_access(peer& who);
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

  // ---- for the handlers of calls
  /// The peer broke the rules: closes its endpoint. Any thread.
  void fail_peer(peer& who, const std::string& why) noexcept override { connections_.fail(who, why); }

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
  std::int64_t connect(node_t node);
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
  bool refuse_queued();

  void end_transfers() noexcept;
  void settle_the_rest();
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
  [[noreturn]] void throw_lost(peer& who, const msg::handler_entry* function, call_outcome outcome) {
    std::rethrow_exception(loss_of(who, function, 0, outcome));
  }

  // ---- connected_node
  void lose_host() noexcept override { stop_.store(true, std::memory_order_release); }
  [[nodiscard]] bool leaving() const noexcept override { return leaving_.load(); }
  void after_loss(node_t node, const std::string& why) noexcept override {
    forwarder_.lose(node, why);
    if (node == 0 && relay_ != nullptr) relay_->lose_all(why);
  }
  [[nodiscard]] relay_transport& relay();

  // ---- receiving_node (engine_peers.cpp, engine_receive.cpp)
  bool handle_events() noexcept override;
  [[nodiscard]] std::exception_ptr loss_of(peer& who, const msg::handler_entry* function, std::uint32_t call,
                                           call_outcome outcome) noexcept override {
    return connections_.loss_of(who, function, call, outcome);
  }
  void receive_notice(peer& from, std::span<const std::byte> text) override;
  void receive_relayed(peer& from, frame_header head, std::span<const std::byte> payload) override;
  void receive_goodbye(peer& from, std::span<const std::byte> text) override;

  // ---- called_node (engine_receive.cpp)
  [[nodiscard]] bool queue_for_context(std::uint32_t context, stored_message message) override {
    return contexts_.push(context, std::move(message));
  }
  void lose_ping(frame_header head, std::span<const std::byte> payload,
                 std::span<const std::byte> error) noexcept override;

  const node_t self_;
  const std::uint64_t serial_;
  node_memory memory_;  ///< outlives the transports, which others reach it by; its transfers end in the destructor
  transport_set transports_;
  job* job_ = nullptr;
  peer_table peers_;
  peer& own_;  ///< this node's own record, which stays
  self_endpoint self_endpoint_;
  peer_events events_;
  outgoing_replies replies_;
  static constexpr std::size_t largest_set_aside = 16;  // of the longest messages
  ping_flow flow_;
  std::atomic<bool> told_of_lost_pings_{false};
  contexts contexts_;
  const msg::handler_table* table_;
  bool detached_ = false;

  waiter waiter_;  ///< and the receiving lock
  standby_receiver standby_;
  call_table calls_;
  continuation_runner continuations_;
  dispatcher dispatcher_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> leaving_{false};

  // Under the receiving lock.
  std::atomic<std::int64_t> trim_at_ns_{base::never_ns};  ///< when the memory of long messages goes; any thread

  handshake handshake_;
  message_receiver receiver_;
  connections connections_;
  call_sender sender_;
  relay_forwarder forwarder_;         ///< on the host
  relay_transport* relay_ = nullptr;  ///< elsewhere, once it was needed; one of `transports_`
  settled_queue settled_;
  std::exception_ptr no_memory_;

  std::mutex mutex_;  ///< guards the next
  std::thread progress_thread_;
  std::atomic<bool> serving_{false};
};

}  // namespace ham::detail
