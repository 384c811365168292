// How calls leave a node: room on the way to their node, back-pressure.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <stop_token>

#include "base/backoff.hpp"
#include "core/call_table.hpp"
#include "core/event_reports.hpp"
#include "core/fault_injector.hpp"
#include "core/peer_events.hpp"
#include "core/peer_table.hpp"
#include "core/ping_flow.hpp"
#include "core/wait_limit.hpp"
#include "core/waiter.hpp"
#include "ham/msg/handler_table.hpp"
#include "ham/offload/detail/engine_api.hpp"

namespace ham::inline v1::detail {

/// What the sender of calls asks of its node: nothing on the path of a call for which there is room. Any thread, which
/// holds no lock.
class sending_node {
 public:
  virtual ~sending_node() = default;
  /// The record of a node, once it is connected and greeted; nothing, if it is not within the limit. Throws
  /// ham::node_failure.
  [[nodiscard]] virtual peer_hold make_ready(node_t node, const wait_limit& limit) = 0;
  /// The process that a call to a number which is not ready goes to, where the host starts others in place of those
  /// that have died; waits for one. Negative: there was none within the limit. Throws ham::node_failure.
  [[nodiscard]] virtual node_t process_for(const call_place& to, const wait_limit& /*limit*/) { return to.node; }
  /// Takes note of what transports have reported.
  virtual void take_notice() = 0;
  /// Executes what has arrived. True if there was something.
  virtual bool progress() = 0;
  /// Gives the receiving lock back and does what has become due meanwhile.
  virtual void finish_progress() = 0;
  [[nodiscard]] virtual bool oversubscribed() const noexcept = 0;
  /// A long message was made.
  virtual void used_long_memory() noexcept = 0;
  /// The error of a call to a peer that is lost.
  [[nodiscard]] virtual std::exception_ptr loss_of(peer& who, const msg::handler_entry* function, std::uint32_t call,
                                                   call_outcome outcome) noexcept = 0;
  /// A fault drops the connection to the peer, or kills its process. True: it will be lost without a message.
  virtual bool break_peer(peer& who, const base::fault_rule& by) = 0;
  /// A call that has just left is to stop.
  virtual void stop_call(std::uint32_t /*call*/) noexcept {}
  /// Asks a node for the functions that it has now, until the deadline (0: no limit). Throws ham::node_failure.
  virtual void ask_for_functions(node_t /*node*/, std::int64_t /*deadline_ns*/) {}
  /// The function with which it is asked.
  [[nodiscard]] virtual const msg::handler_entry* asking_function() const noexcept { return nullptr; }
};

/// All members may be called from any thread, which holds no lock.
class call_sender {
 public:
  /// The parts of the node that it works with.
  struct parts {
    node_t self;
    const msg::handler_table& functions;
    peer_table& peers;
    waiter& lock;
    call_table& calls;
    ping_flow& pings;
    peer_events& events;
    fault_injector* faults = nullptr;
    engine* owner = nullptr;
    event_reports* reports = nullptr;
  };
  call_sender(sending_node& node, const parts& of) noexcept
      : node_(node),
        of_(of),
        known_keys_(static_cast<std::uint32_t>(of.functions.size())),
        plain_keys_(of.faults != nullptr && of.faults->for_calls() ? 0 : known_keys_) {}

  /// The key under which a node that is ready knows a function; the node is asked first if need be. `deadline_ns`: 0:
  /// none. Throws ham::call_error if it lacks it, ham::node_failure, ham::deadline_exceeded.
  [[nodiscard]] std::uint32_t key_on(peer& who, msg::handler_entry& function, std::int64_t deadline_ns);
  /// See begin_call.
  [[nodiscard]] bool begin(const call_place& to, msg::handler_entry& function, std::size_t size, result_decoder decode,
                           when_full policy, call_room& out);
  /// False: the deadline passed while there was no room; nothing was sent, and the slot, if there is one, has failed.
  bool finish(call_room& out);
  /// The process that a call goes to, the key under which it knows the function, and the fault that its reply is to
  /// suffer.
  struct placed_function {
    node_t process = -1;
    std::uint32_t key = 0;
    std::uint8_t reply_fault = 0;
  };
  /// Of a call that leaves later, with others: its node is connected, and asked for the function if need be; faults of
  /// requests strike now. Throws what begin throws, and ham::deadline_exceeded. The result is written to where it is
  /// read: in registers its parts would have to wait for each other.
  void place(const call_place& to, msg::handler_entry& function, result_decoder decode, placed_function& placed);
  /// As begin and finish, of a message of `count` calls that have slots of their own.
  void begin_batch(const call_place& to, std::size_t size, call_room& out);
  bool finish_batch(call_room& out, std::uint32_t count);
  /// A call fails that has not left.
  void fail_unsent(call_slot& slot, std::exception_ptr why) noexcept;
  /// The same of one with a deadline that was taken back from the queue to its node.
  void fail_withdrawn(std::uint32_t call) noexcept;
  /// So many more calls run here from which calls inherit that they can be stopped.
  void count_stoppable(int more) noexcept {
    stoppable_running_.fetch_add(static_cast<std::uint32_t>(more), std::memory_order_relaxed);
  }

 private:
  /// Who waits for room in the queue to a peer: that one computes, or is stopped, if it takes long.
  using room_wait = base::backoff<base::backoff_schedule{.spins = 1000, .yields = 1000, .sleep_ns = 50'000}>;

  /// The peer, connected and greeted, with its `sending` lock; nullptr: it was not within the limit. Throws
  /// ham::node_failure.
  peer* lock_ready(const call_place& to, const msg::handler_entry& function, const wait_limit& limit) {
    peer* const who = of_.peers.lock(to.node);
    if (who != nullptr) [[likely]] {
      if (who->state.load(std::memory_order_acquire) == peer_state::ready) [[likely]]
        return who;
      who->sending.unlock();
    }
    return make_ready_and_lock(to, function, limit);
  }
  [[gnu::noinline]] peer* make_ready_and_lock(const call_place& to, const msg::handler_entry& function,
                                              const wait_limit& limit);
  inline std::byte* reserve(peer& who, msg::handler_entry& function, std::size_t size, outbox_message* big,
                            result_decoder decode, call_room& out);
  inline std::uint32_t key_of(peer& who, msg::handler_entry& function, result_decoder decode, call_room& out);
  [[gnu::noinline]] std::uint32_t special_key(peer& who, msg::handler_entry& function, result_decoder decode,
                                              call_room& out);
  inline bool begin_at_once(node_t node, msg::handler_entry& function, std::size_t size, result_decoder decode,
                            call_room& out);
  inline void claim_reserved(peer& who, std::byte* room, msg::handler_entry& function, result_decoder decode,
                             std::int64_t deadline_ns, call_room& out);
  call_slot& claim_for(peer& to, msg::handler_entry& function, result_decoder decode, std::int64_t deadline_ns);
  /// What begin was asked for.
  struct request {
    const call_place& to;
    msg::handler_entry& function;
    std::size_t size;
    result_decoder decode;
    when_full policy;
    const std::stop_token* token = nullptr;  ///< ends the wait for room
  };
  template <bool CanStop>
  inline bool begin_as(const request& what, call_room& out);
  template <bool CanStop>
  static inline void write_prefix(const call_place& to, std::span<std::byte> prefix, call_room& out);
  [[gnu::noinline]] bool begin_stoppable(const request& what, call_room& out);
  [[gnu::noinline]] void follow(frame_header head, std::uint64_t position, std::int64_t deadline_ns);
  call_slot* stopped(node_t to, msg::handler_entry& function, result_decoder decode);
  [[gnu::noinline]] bool begin_faulted(const request& what, node_t process, call_room& out);
  bool suffer(const base::fault_rule& rule, const request& what, node_t process, call_room& out);
  void place_decided(const call_place& to, msg::handler_entry& function, result_decoder decode, call_room& decided,
                     placed_function& placed);
  void make_room(room_wait& pause);
  [[gnu::noinline]] void report(offload::event_kind what, node_t to, const msg::handler_entry* function) noexcept;
  void admit_ping(peer& who, const call_place& to, msg::handler_entry& function, const std::stop_token* token);
  inline bool finish(call_room& out, frame_header head);
  [[gnu::noinline]] bool finish_traced(call_room& out);
  [[gnu::noinline]] bool finish_big(peer& to, frame_header head, call_room& out);
  void fail_withdrawn(call_slot& slot, bool late) noexcept;
  call_slot* missed(node_t to, msg::handler_entry& function, result_decoder decode);

  sending_node& node_;
  const parts of_;
  std::atomic<std::uint32_t> stoppable_running_{0};
  const std::uint32_t known_keys_;  ///< what peers learned of; handlers loaded later come behind
  const std::uint32_t
      plain_keys_;  ///< of these, those about which nothing is special: none where calls may fail on purpose
};

}  // namespace ham::detail
