// The peers of a node, by number: a table that may change while other threads read it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/renew.hpp"
#include "core/peer.hpp"

namespace ham::inline v1::detail {

/// Calls sent to nodes, and bytes of messages exchanged with them.
struct peer_traffic {
  std::uint64_t calls_sent = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;

  void add(const peer& one) noexcept {
    calls_sent += one.calls_sent.load(std::memory_order_relaxed);
    bytes_sent += one.bytes_sent.bytes();
    bytes_received += one.bytes_received.bytes();
  }
};

/// Numbers grow for as long as the job lasts; a place in the table is used again by a number that differs by a multiple
/// of the table's size, when the node before it has been lost. The same goes for places in the shared-memory segment.
///
/// A record is freed when nobody can use it any more. It is used by those who
/// - hold the `sending` lock of its place, under which it was found and under which places change hands,
/// - hold the receiving lock, under which records are freed,
/// - hold it (peer_hold),
/// - hold the `reading` lock of its place,
/// - execute a call of it, or have one waiting, which the record counts.
/// Of nodes that were lost the latest keep their records, for what is said of them. A job that goes on replacing nodes
/// keeps no more: who calls an older one finds, as of a node that it has never met, that it is not there.
class peer_table {
 public:
  static constexpr std::size_t most = 4096;                         ///< nodes at a time
  static constexpr std::size_t max_numbers = std::size_t{1} << 30;  ///< ever

  /// Whether a place can be given to another number. For `rest_ns` after its node was lost it cannot, so that other
  /// processes see the end of that node before its words in shared memory are another's.
  enum class place : std::uint8_t { free, resting, taken };
  static constexpr std::int64_t rest_ns = 1'000'000'000;
  static constexpr std::size_t max_lost = 64;  ///< records of nodes that were lost, as far as they rest no more
  static constexpr std::size_t claims_between_sweeps = 32;  ///< and that many more

  /// `counters`: where peers have their rows; nullptr: nobody reads them.
  explicit peer_table(std::size_t count, base::own_counters* counters = nullptr)
      : counters_(counters),
        places_(static_cast<peer_place*>(::operator new(most * sizeof(peer_place), alignment))),
        count_(count) {}
  ~peer_table() {
    for (peer* one : *this) delete one;
    std::destroy_n(places_, used_.load());
    ::operator delete(places_, alignment);
  }
  peer_table(const peer_table&) = delete;
  peer_table& operator=(const peer_table&) = delete;

  /// All numbers that there have been are below.
  [[nodiscard]] std::size_t size() const noexcept { return count_.load(std::memory_order_acquire); }

  // ---- any thread
  /// The record of `node` with its `sending` lock; nullptr: there is none, and nothing is locked.
  [[nodiscard]] peer* lock(node_t node) noexcept {
    const std::size_t at = index_of(node);
    if (at >= used_.load(std::memory_order_acquire)) [[unlikely]]
      return nullptr;
    peer_place& where = places_[at];
    where.sending.lock();
    peer* const who = where.who.load(std::memory_order_acquire);
    if (who->node == node) [[likely]]
      return who;
    where.sending.unlock();
    return nullptr;
  }
  /// The record of `node`, if there is one.
  [[nodiscard]] peer_hold hold(node_t node) const noexcept {
    peer_hold who = hold_place_of(node);
    return node >= 0 && who && who->node == node ? std::move(who) : peer_hold();
  }
  /// The record of `node` with the `reading` lock of its place, if that is free; nullptr: nothing is locked.
  [[nodiscard]] peer* try_reading(node_t node) noexcept {
    const std::size_t at = index_of(node);
    if (at >= used_.load(std::memory_order_acquire)) [[unlikely]]
      return nullptr;
    peer_place& where = places_[at];
    if (!where.reading.try_lock()) return nullptr;
    peer* const who = where.who.load(std::memory_order_seq_cst);
    if (who->node == node) [[likely]]
      return who;
    where.reading.unlock();
    return nullptr;
  }
  /// Calls visit(peer) for each one, holding it.
  template <class Visit>
  void for_each_held(Visit visit) const {
    const std::size_t used = used_.load(std::memory_order_acquire);
    for (std::size_t at = 0; at < used; ++at) {
      if (places_[at].who.load(std::memory_order_relaxed) == &absent_) continue;
      const peer_hold who(places_[at]);
      visit(*who);
    }
  }
  [[nodiscard]] place place_of(node_t node) const noexcept {
    const peer_hold who = hold_place_of(node);
    if (!who || who->node < 0) return place::free;
    if (who->state.load(std::memory_order_acquire) != peer_state::lost) return place::taken;
    return base::now_ns() - who->lost_at_ns.load(std::memory_order_relaxed) < rest_ns ? place::resting : place::free;
  }
  /// Whether the node is connected and has greeted this one.
  [[nodiscard]] bool is_ready(node_t node) const noexcept {
    const peer_hold who = hold(node);
    return who && who->state.load(std::memory_order_acquire) == peer_state::ready;
  }
  /// All that are, but for `self`.
  [[nodiscard]] std::vector<node_t> ready_nodes(node_t self) const;
  /// Nodes that are met, or expected, and have not been lost.
  [[nodiscard]] std::size_t living_nodes() const noexcept;
  /// Where other nodes can connect to `node`, as it has told; empty: nowhere, or it has told nothing.
  [[nodiscard]] std::string address_of(node_t node) const;
  /// There are numbers below `count` from now on, at least; records are made when they are claimed. False: more than
  /// there may be.
  bool grow_to(std::size_t count) {
    if (count > max_numbers) return false;
    std::lock_guard guard(mutex_);
    if (count > size()) count_.store(count, std::memory_order_release);
    return true;
  }
  /// With all nodes that there have been.
  [[nodiscard]] peer_traffic traffic() const {
    std::lock_guard guard(mutex_);  // nothing is claimed or freed
    peer_traffic sum = freed_;
    for (const auto& one : retired_) sum.add(*one);
    for (const peer* one : *this) sum.add(*one);
    return sum;
  }
  /// Nodes with messages that wait for room.
  [[nodiscard]] const std::atomic<std::uint32_t>& filled_outboxes() const noexcept { return filled_outboxes_; }
  /// In a child after fork: whoever held the lock is not there, and nothing is sent any more.
  void detach_after_fork() noexcept {
    base::renew(mutex_);
    for (std::size_t at = 0; at < used_.load(); ++at) base::renew(places_[at].reading);
    filled_outboxes_.store(0);
  }
  /// Records that have lost their place and are still used.
  [[nodiscard]] std::size_t retired() const {
    std::lock_guard guard(mutex_);
    return retired_.size();
  }

  // ---- the receiving lock is held
  /// Who has the place of `node`, which need not be that node.
  [[nodiscard]] peer& at_place_of(node_t node) const noexcept {
    const std::size_t at = index_of(node);
    return at < used_.load(std::memory_order_relaxed) ? *places_[at].who.load(std::memory_order_relaxed) : absent_;
  }
  /// `node` is there, says has().
  [[nodiscard]] peer& operator[](node_t node) const noexcept { return at_place_of(node); }
  [[nodiscard]] bool has(node_t node) const noexcept { return node >= 0 && at_place_of(node).node == node; }

  /// True if nobody has begun a connection to `node` yet; then the caller does.
  [[nodiscard]] bool expect(node_t node);
  /// The record of `node`, which takes over its place if whoever has it was lost or never met; else nullptr: that node
  /// lives, so `node` does not. Frees what is not used any more.
  peer* claim(node_t node) {
    std::lock_guard guard(mutex_);
    const std::size_t at = index_of(node);
    make_places(at + 1);
    peer_place& where = places_[at];
    peer* const before = where.who.load(std::memory_order_relaxed);
    if (before->node == node) return before;
    if (is_expected(before->state.load())) return nullptr;
    retired_.reserve(retired_.size() + 1);
    auto* const made = new peer(node, where, filled_outboxes_,
                                counters_ == nullptr ? base::counter_row_of_peer() : counters_->claim_row(node));
    if (before == &absent_) {  // without its lock, whose bias is the first sender's
      where.who.store(made, std::memory_order_seq_cst);
    } else {
      where.sending.lock();
      where.who.store(made, std::memory_order_seq_cst);
      where.sending.unlock();
      retired_.emplace_back(before);
    }
    if (++claims_ % claims_between_sweeps == 0) forget_lost();
    free_unused();
    return made;
  }

  /// Over those that are there.
  class iterator {
   public:
    iterator(const peer_place* at, const peer_place* end) noexcept : at_(at), end_(end) { skip(); }
    peer* operator*() const noexcept { return at_->who.load(std::memory_order_acquire); }
    iterator& operator++() noexcept {
      ++at_;
      skip();
      return *this;
    }
    bool operator==(const iterator& other) const noexcept { return at_ == other.at_; }

   private:
    void skip() noexcept {
      while (at_ != end_ && (**this)->node < 0) ++at_;
    }
    const peer_place* at_;
    const peer_place* end_;
  };
  [[nodiscard]] iterator begin() const noexcept { return {places_, past_used()}; }
  [[nodiscard]] iterator end() const noexcept { return {past_used(), past_used()}; }

 private:
  static constexpr std::align_val_t alignment{alignof(peer_place)};
  base::own_counters* const counters_;

  [[nodiscard]] static std::size_t index_of(node_t node) noexcept { return static_cast<std::uint32_t>(node) % most; }
  [[nodiscard]] const peer_place* past_used() const noexcept { return places_ + used_.load(std::memory_order_acquire); }
  /// Of whoever is at the place of `node`, if it ever was used.
  [[nodiscard]] peer_hold hold_place_of(node_t node) const noexcept {
    const std::size_t at = index_of(node);
    return at < used_.load(std::memory_order_acquire) ? peer_hold(places_[at]) : peer_hold();
  }
  /// The memory of places that no number had takes no pages.
  void make_places(std::size_t count) noexcept {
    for (std::size_t at = used_.load(std::memory_order_relaxed); at < count; ++at) {
      auto* const made = ::new (static_cast<void*>(places_ + at)) peer_place;
      made->who.store(&absent_, std::memory_order_relaxed);
      used_.store(at + 1, std::memory_order_release);
    }
  }
  /// The oldest ones lose their places. mutex_ is held.
  void forget_lost() {
    std::vector<peer*> lost;
    for (peer* one : *this)
      if (one->state.load(std::memory_order_relaxed) == peer_state::lost) lost.push_back(one);
    if (lost.size() <= max_lost) return;
    const auto lost_at = [](const peer* one) { return one->lost_at_ns.load(std::memory_order_relaxed); };
    std::sort(lost.begin(), lost.end(), [&](const peer* a, const peer* b) { return lost_at(a) < lost_at(b); });
    lost.resize(lost.size() - max_lost);
    const std::int64_t rested = base::now_ns() - rest_ns;
    retired_.reserve(retired_.size() + lost.size());
    for (peer* const one : lost) {
      if (lost_at(one) > rested) return;
      one->sending.lock();
      one->place.who.store(&absent_, std::memory_order_seq_cst);
      one->sending.unlock();
      retired_.emplace_back(one);
    }
  }
  void free_unused() noexcept {
    std::erase_if(retired_, [this](const auto& one) {
      if (!one->unused()) return false;
      freed_.add(*one);
      return true;
    });
  }

  mutable peer_place nowhere_;
  mutable std::atomic<std::uint32_t> filled_outboxes_{0};
  mutable peer absent_{std::numeric_limits<node_t>::min(), nowhere_, filled_outboxes_};
  peer_place* const places_;
  std::atomic<std::size_t> count_{0};
  std::atomic<std::size_t> used_{0};  ///< places that are made
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<peer>> retired_;
  std::size_t claims_ = 0;  ///< that have made a record
  peer_traffic freed_;
};

}  // namespace ham::detail
