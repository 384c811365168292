// The runtime's record of one node.
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/biased_lock.hpp"
#include "base/clock.hpp"
#include "base/cpu.hpp"
#include "base/own_counters.hpp"
#include "base/recursive_spin_lock.hpp"
#include "core/frame_header.hpp"
#include "core/no_endpoint.hpp"
#include "core/outbox.hpp"
#include "core/peer_identity.hpp"
#include "core/ping_credit.hpp"
#include "ham/msg/handler.hpp"
#include "ham/msg/translation.hpp"
#include "ham/offload/detail/reservation.hpp"
#include "transport/fragments.hpp"
#include "transport/transport.hpp"

namespace ham::inline v1::detail {

/// How the connection to a node ended.
enum class peer_end : std::uint8_t {
  none,
  connection_broken,  ///< bytes against the wire format; the process may live on
  connection_lost,    ///< the process may live on
  left,               ///< the same, on purpose: it was removed, or its runtime or this one ends
  process_died,       ///< it executes nothing any more
};

/// Whether the process of another device copies out of the memory of this node's device by itself.
enum class arena_use : std::uint8_t { unknown, open, refused };

enum class peer_state : std::uint8_t { unknown, connecting, greeting, ready, lost };

/// It is connected, or is about to be.
[[nodiscard]] constexpr bool is_expected(peer_state state) noexcept {
  return state != peer_state::unknown && state != peer_state::lost;
}

/// A message that arrived and waits for its turn, or for its thread.
struct stored_message {
  struct peer* from;
  frame_header head;
  std::vector<std::byte> bytes;
  std::int64_t arrived_ns = 0;                ///< of a call that can be stopped, and waits for the main queue
  std::shared_ptr<call_stop> stop = nullptr;  ///< of one that waits for a context: listed, so that its stop finds it
};

struct batch_reply;

/// A batch of the main queue that is being executed; on the stack of the thread that does.
struct open_batch {
  std::span<const std::byte> rest;
  std::uint32_t left = 0;  ///< calls that have not begun
  batch_reply* collected = nullptr;
  open_batch* outer = nullptr;  ///< around it on the stack
};

/// A pointer to an endpoint that may be exchanged while others follow it.
class endpoint_pointer {
 public:
  endpoint_pointer& operator=(transport::endpoint* to) noexcept {
    to_.store(to, std::memory_order_release);
    return *this;
  }
  operator transport::endpoint*() const noexcept { return to_.load(std::memory_order_acquire); }
  transport::endpoint* operator->() const noexcept { return *this; }

 private:
  std::atomic<transport::endpoint*> to_{nullptr};
};

/// Bytes of messages in one direction: counted under a lock, read by anybody.
class traffic_counter {
 public:
  static constexpr std::size_t head_bytes = 16;
  explicit traffic_counter(base::counter_word& bytes) noexcept : bytes_(bytes) {}
  void count(std::size_t payload) noexcept { base::count_more(bytes_, payload + head_bytes); }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }

 private:
  base::counter_word& bytes_;
};

/// Where the record of a node is found. The place stays when the record is exchanged for another node's, and so do the
/// lock and the counter that keep a record from being freed (peer_table.hpp).
struct alignas(base::cache_line_bytes) peer_place {
  std::atomic<peer*> who{nullptr};
  base::biased_lock sending;  ///< of the node that is here; its record stays here while the lock is held
  /// Threads that use a record which is, or was, here. Not on the line that every call writes.
  alignas(base::cache_line_bytes) std::atomic<std::uint32_t> holders{0};
  /// Of who reads frames of the node that is here, once threads that wait for it do so by themselves (reply_reader). A
  /// record that is found while it is held stays, and so does its endpoint.
  alignas(base::cache_line_bytes) base::recursive_spin_lock reading;
};

struct peer {
  /// `filled_outboxes`: of all peers. `counters`: its row.
  peer(node_t number, peer_place& where, std::atomic<std::uint32_t>& filled_outboxes,
       base::counter_row_of_peer counters = {})
      : row(std::move(counters)),
        node(number),
        place(where),
        sending(where.sending),
        unsent(filled_outboxes, &row->traffic.waiting) {}
  /// Whether nobody uses it any more; its place has another record. The receiving lock is held.
  [[nodiscard]] bool unused() const noexcept {
    return executor == nullptr && waiting == 0 && users.load(std::memory_order_acquire) == 0 &&
           place.holders.load(std::memory_order_seq_cst) == 0 && !place.reading.held();
  }

  // ---- sending: under `sending`, unless said otherwise
  /// The key under which the node knows a function. `known`: so many keys of this node, `self`, have it learned. Throws
  /// ham::call_error if it does not have the function. Any thread, once it is ready.
  [[nodiscard]] std::uint32_t key_for(msg::handler_entry& function, std::uint32_t known, node_t self) const {
    return key_or(function, known, [&] { return translate_key(function, known, self); });
  }
  /// The same, with another way for keys that are not below `known`, or need a translation.
  template <class Otherwise>
  [[nodiscard]] std::uint32_t key_or(const msg::handler_entry& function, std::uint32_t known,
                                     Otherwise otherwise) const {
    if (has_same_key(function, known)) [[likely]]
      return function.key();
    return otherwise();
  }
  [[nodiscard]] bool has_same_key(const msg::handler_entry& function, std::uint32_t known) const noexcept {
    return translation == nullptr && function.key() < known && !function.duplicate();
  }
  /// Whether the node has to be asked for functions that it has got since they met before it can be said that it lacks
  /// this one: at most once per second, and when this node has got some. As key_for; throws nothing.
  [[nodiscard]] bool must_be_asked_for(msg::handler_entry& function, std::uint32_t known) const;
  /// It is asked now, by one of perhaps several threads. The number of the question.
  [[nodiscard]] std::uint64_t begin_question() noexcept { return ++questions; }
  /// The question is answered: `learned` says what functions it has; nullptr: it does not say. `keys`: of this node
  /// when it asked. Nothing, if the answer to a later question is known, or what is known was forgotten since. What was
  /// known before is left in `learned`.
  void take_answer(std::uint64_t question, std::size_t keys, std::unique_ptr<msg::translation>& learned) noexcept;
  /// It has perhaps got functions: answers to the questions so far say nothing. What was known before, to be destroyed
  /// without the lock.
  [[nodiscard]] std::unique_ptr<msg::translation> forget_functions() noexcept;
  /// Throws ham::call_error if the node takes no message of `size` bytes; `what` names it for people. Any thread.
  void check_size(std::size_t size, const std::string& what) const;
  /// Room for a call of `size` bytes: in the ring, or `big` if it is longer than a frame. nullptr: not now, or `big` is
  /// missing, or it needs memory of its own.
  [[nodiscard]] std::byte* reserve(std::size_t size, outbox_message* big) {
    if (size <= max_payload) [[likely]]
      return reserve_in_ring(size);
    return big == nullptr || !unsent_has_left() ? nullptr : big->room_for(*to, size);
  }
  /// The same for a message that goes through the ring, whatever others of its size do.
  [[nodiscard]] std::byte* reserve_in_ring(std::size_t size) { return unsent_has_left() ? to->reserve(size) : nullptr; }
  /// Whether there may ever be room in the connection for a message that is longer than a frame.
  [[nodiscard]] bool takes_at_once(std::size_t size) const noexcept {
    transport::message_memory* const memory = to->long_messages();
    return memory != nullptr && size <= memory->max_size();
  }
  /// Sends what was reserved in the ring, and gives the lock back.
  void commit(frame_header head) {
    alignas(8) const transport::frame_head encoded = head.encode();  // written as a word, and read in parts
    to->commit(encoded);
    sending.unlock();
  }
  /// Takes the lock; until it is sent or given back the thread holds it. If there is no room in the ring, `out` is
  /// memory for a message of its own: who executes calls never waits for room.
  void begin_reply(std::size_t size, reply_room& out) {
    sending.lock();
    bytes_sent.count(size);
    out.data = room_at_once(size);
    if (out.data != nullptr) [[likely]]
      out.to = this;
    else
      begin_queued_reply(size, out);
  }
  /// Whether there is a connection on which this node has greeted it. Any thread.
  [[nodiscard]] bool takes_replies() const noexcept {
    const peer_state now = state.load(std::memory_order_acquire);
    return now == peer_state::greeting || now == peer_state::ready;
  }
  /// Room in the ring, if there is some and nothing waits; nullptr: there is none. Under `sending`.
  [[nodiscard]] std::byte* room_at_once(std::size_t size) {
    return unsent.empty() && size <= max_payload ? to->reserve(size) : nullptr;
  }
  /// Sends a reply that has memory of its own, or leaves it in the outbox, and gives the lock back. False: someone has
  /// to look after the outbox.
  [[nodiscard]] bool finish_queued_reply(frame_header head, reply_room& out) noexcept;
  /// Sends what there is room for, unless another thread sends. True: nothing waits any more. Takes the lock.
  bool flush_if_free() noexcept;
  /// Gives back memory that long messages have left, unless another thread sends. True if there is none. Takes the
  /// lock.
  bool trim_if_free() noexcept;
  /// Takes back a call that waits in the outbox, of which nothing has left. Takes the lock.
  [[nodiscard]] bool withdraw_call(std::uint32_t id) noexcept;
  /// Only who has the receiving lock reads its frames from now on. The receiving lock is held.
  void end_shared_reading() noexcept;
  /// The node is lost, because of `loss`: closes its endpoint, and gives what has not left, or not all of it. Takes the
  /// lock. The receiving lock is held.
  [[nodiscard]] message_list disconnect() noexcept;
  void count_calls(std::uint64_t more) noexcept { base::count_more(calls_sent, more); }
  /// Its row says what is known of it. The receiving lock is held, or nobody else knows it yet.
  void show_met() noexcept;
  /// Its row says that it has got a number that had so many processes before it. The same.
  void show_restart(node_t number, std::uint64_t restarts) noexcept;
  /// Of a message that was taken back, if it was.
  bool discount(const std::optional<frame_header>& withdrawn) noexcept {
    if (withdrawn) count_calls(-static_cast<std::uint64_t>(withdrawn->calls()));
    return withdrawn.has_value();
  }

  const base::counter_row_of_peer row;  ///< what tools read
  const node_t node;
  peer_place& place;
  base::biased_lock& sending;  ///< of the place; guards what is sent
  std::atomic<peer_state> state{peer_state::unknown};
  std::atomic<bool> failed{false};                   ///< broke the rules: nothing more of it is looked at
  std::atomic<peer_end> unreported{peer_end::none};  ///< its end, for which there was no memory for an event
  /// Set before `greeting`; no_endpoint when it was lost. Followed under `sending`, the place's `reading` or the
  /// receiving lock only, under all of which it changes: the transport may destroy an endpoint that no peer has.
  endpoint_pointer to;
  std::size_t max_payload = 0;                    ///< of what goes into the ring of `to`; the rest is long
  std::uint64_t max_message = UINT64_MAX;         ///< what the node takes, as it says; set before `ready`
  std::unique_ptr<msg::translation> translation;  ///< set before `ready`; nullptr: the same table on both sides
  /// Of functions of which one of the two did not know when they met: libraries were loaded since. Under `sending`.
  std::unique_ptr<msg::translation> later;
  std::size_t asked_with = 0;    ///< keys of this node in the question that was answered; 0: none, or ask again
  std::int64_t asked_at_ns = 0;  ///< when the answer came
  std::uint64_t questions = 0;   ///< begun so far
  std::uint64_t answered = 0;    ///< the latest one whose answer counts

  // Sending, under `sending`.
  outbox unsent;                                            ///< behind them everything queues
  base::counter_word& calls_sent{row->traffic.calls_sent};  ///< written under sending, read by all
  traffic_counter bytes_sent{row->traffic.bytes_sent};

  std::shared_ptr<transport::remote_memory> memory;  ///< of `to`; set before `greeting`
  bool copies_mapped = false;  ///< it has this node's memory mapped for its device; set before `greeting`
  std::atomic<arena_use> reads_arena{arena_use::unknown};  ///< of this node's device (peer_copies.hpp)
  std::atomic<std::int64_t> lost_at_ns{0};                 ///< on the steady clock
  /// Until when it is to greet: another node has to make the connection. base::never_ns: somebody tells in any case.
  std::atomic<std::int64_t> greets_by_ns{base::never_ns};
  std::atomic<int> users{0};  ///< calls of it that run, or wait, elsewhere than on the receiving thread
  /// What it had taken when the destructor of a handle gave it up (end_of_handle.hpp).
  static constexpr std::uint64_t never = UINT64_MAX;
  std::atomic<std::uint64_t> given_up_at{never};

  ping_credit pings;

  // Receiving, under the engine's receiving lock.
  traffic_counter bytes_received{row->traffic.bytes_received};
  transport::assembler fragments;
  const void* executor = nullptr;  ///< thread that executes a call of this peer right now
  std::list<stored_message> deferred;
  std::uint32_t waiting = 0;    ///< messages in `deferred`, and batches that are being executed
  open_batch* batch = nullptr;  ///< the innermost one; the executor's alone
  bool hello_seen = false;

  peer_identity about;

 private:
  /// Nothing waits to be sent, or it has just left.
  [[nodiscard]] bool unsent_has_left() {
    if (unsent.empty()) [[likely]]
      return true;
    return unsent.flush(*to);
  }
  [[nodiscard]] std::uint32_t translate_key(msg::handler_entry& function, std::uint32_t known, node_t self) const;
  void begin_queued_reply(std::size_t size, reply_room& out);
};

/// While it lives, no thread that waits settles a call to the node by itself. The receiving lock is held.
class settling_alone {
 public:
  explicit settling_alone(peer& who) noexcept {
    const transport::endpoint* const to = who.to;
    if (to != nullptr && to->shared() != nullptr) [[unlikely]]
      lock_ = to->shared();
    if (lock_ != nullptr) [[unlikely]]
      lock_->lock();
  }
  settling_alone(const settling_alone&) = delete;
  settling_alone& operator=(const settling_alone&) = delete;
  ~settling_alone() {
    if (lock_ != nullptr) [[unlikely]]
      lock_->unlock();
  }

 private:
  base::recursive_spin_lock* lock_ = nullptr;
};

/// Keeps the record of a peer from being freed, for a thread that has no lock. Not its endpoint.
class peer_hold {
 public:
  peer_hold() = default;
  /// Of a record that stays for the moment: the caller has a lock, another hold, or executes a call of it.
  explicit peer_hold(peer& who) noexcept : at_(&who.place), who_(&who) {
    at_->holders.fetch_add(1, std::memory_order_seq_cst);
  }
  /// Of whoever is at a place; to be asked for its number.
  explicit peer_hold(peer_place& at) noexcept : at_(&at) {
    at.holders.fetch_add(1, std::memory_order_seq_cst);
    who_ = at.who.load(std::memory_order_seq_cst);  // whoever exchanges it after this finds the holder counted
  }
  peer_hold(peer_hold&& other) noexcept
      : at_(std::exchange(other.at_, nullptr)), who_(std::exchange(other.who_, nullptr)) {}
  peer_hold& operator=(peer_hold&& other) noexcept {
    std::swap(at_, other.at_);
    std::swap(who_, other.who_);
    return *this;
  }
  ~peer_hold() {
    if (at_ != nullptr) at_->holders.fetch_sub(1, std::memory_order_release);
  }

  explicit operator bool() const noexcept { return who_ != nullptr; }
  [[nodiscard]] peer& operator*() const noexcept { return *who_; }
  [[nodiscard]] peer* operator->() const noexcept { return who_; }

 private:
  peer_place* at_ = nullptr;
  peer* who_ = nullptr;
};

}  // namespace ham::detail
