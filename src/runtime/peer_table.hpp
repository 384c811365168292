// The peers of a node, by number: a table that may change while other threads read it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "runtime/peer.hpp"

namespace ham::detail {

/// Numbers grow for as long as the job lasts; a place in the table is used again by a number that differs by a multiple
/// of the table's size, when the node before it has been lost. The same goes for places in the shared-memory segment.
class peer_table {
 public:
  static constexpr std::size_t most = 4096;                         ///< nodes at a time
  static constexpr std::size_t max_numbers = std::size_t{1} << 30;  ///< ever

  /// Whether a place can be given to another number. For `rest_ns` after its node was lost it cannot: until then other
  /// threads may be about to look at what belonged to it.
  enum class place : std::uint8_t { free, resting, taken };
  static constexpr std::int64_t rest_ns = 1'000'000'000;

  explicit peer_table(std::size_t count) : peers_(new std::atomic<peer*>[most]), count_(count) {
    for (std::size_t at = 0; at < most; ++at) peers_[at].store(&absent_, std::memory_order_relaxed);
  }
  ~peer_table() {
    for (peer* one : *this) delete one;
  }
  peer_table(const peer_table&) = delete;
  peer_table& operator=(const peer_table&) = delete;

  /// All numbers that there have been are below.
  [[nodiscard]] std::size_t size() const noexcept { return count_.load(std::memory_order_acquire); }
  /// Who has the place of `node`, which need not be that node.
  [[nodiscard]] peer& at_place_of(node_t node) const noexcept {
    return *peers_[static_cast<std::uint32_t>(node) % most].load(std::memory_order_acquire);
  }
  /// `node` is there, says has().
  [[nodiscard]] peer& operator[](node_t node) const noexcept { return at_place_of(node); }
  [[nodiscard]] bool has(node_t node) const noexcept { return node >= 0 && at_place_of(node).node == node; }

  [[nodiscard]] place place_of(node_t node) const noexcept {
    const peer& one = at_place_of(node);
    if (one.node < 0) return place::free;
    if (one.state.load(std::memory_order_acquire) != peer_state::lost) return place::taken;
    return base::now_ns() - one.lost_at_ns.load(std::memory_order_relaxed) < rest_ns ? place::resting : place::free;
  }

  /// There are numbers below `count` from now on, at least; records are made when they are claimed. False: more than
  /// there may be. Any thread.
  bool grow_to(std::size_t count) {
    if (count > max_numbers) return false;
    std::lock_guard guard(mutex_);
    if (count > size()) count_.store(count, std::memory_order_release);
    return true;
  }

  /// The record of `node`, which takes over its place if whoever has it was lost or never met; else nullptr: that node
  /// lives, so `node` does not. The receiving lock is held.
  peer* claim(node_t node) {
    std::lock_guard guard(mutex_);
    const std::size_t place = static_cast<std::uint32_t>(node) % most;
    peer* const before = peers_[place].load(std::memory_order_relaxed);
    if (before->node == node) return before;
    const peer_state state = before->state.load();
    if (state != peer_state::unknown && state != peer_state::lost) return nullptr;
    auto* const made = new peer(node);
    peers_[place].store(made, std::memory_order_release);
    if (place >= used_.load(std::memory_order_relaxed)) used_.store(place + 1, std::memory_order_release);
    if (before != &absent_) retire(before);
    return made;
  }

  /// Calls sent to nodes whose records are gone.
  [[nodiscard]] std::uint64_t calls_of_retired() const noexcept { return calls_.load(std::memory_order_relaxed); }

  /// Bytes of messages exchanged with them.
  [[nodiscard]] std::uint64_t bytes_sent_to_retired() const noexcept { return sent_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t bytes_received_of_retired() const noexcept {
    return received_.load(std::memory_order_relaxed);
  }

  /// Over those that are there.
  class iterator {
   public:
    iterator(const std::atomic<peer*>* at, const std::atomic<peer*>* end) noexcept : at_(at), end_(end) { skip(); }
    peer* operator*() const noexcept { return at_->load(std::memory_order_acquire); }
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
    const std::atomic<peer*>* at_;
    const std::atomic<peer*>* end_;
  };
  [[nodiscard]] iterator begin() const noexcept { return {peers_.get(), past_used()}; }
  [[nodiscard]] iterator end() const noexcept { return {past_used(), past_used()}; }

 private:
  static constexpr std::int64_t keep_retired_ns = 10 * rest_ns;

  [[nodiscard]] const std::atomic<peer*>* past_used() const noexcept {
    return peers_.get() + used_.load(std::memory_order_acquire);
  }

  /// Threads that were about to look at it have long finished when it goes; who executes a call of it keeps it.
  void retire(peer* old) {
    calls_.fetch_add(old->calls_sent.load(std::memory_order_relaxed), std::memory_order_relaxed);
    sent_.fetch_add(old->bytes_sent.bytes(), std::memory_order_relaxed);
    received_.fetch_add(old->bytes_received.bytes(), std::memory_order_relaxed);
    const std::int64_t now = base::now_ns();
    std::erase_if(retired_, [now](const auto& one) { return now - one.second > keep_retired_ns && one.first->idle(); });
    retired_.emplace_back(std::unique_ptr<peer>(old), now);
  }

  peer absent_{-1};
  std::unique_ptr<std::atomic<peer*>[]> peers_;
  std::atomic<std::size_t> count_{0};
  std::atomic<std::size_t> used_{0};  ///< places behind are empty
  std::mutex mutex_;
  std::vector<std::pair<std::unique_ptr<peer>, std::int64_t>> retired_;
  std::atomic<std::uint64_t> calls_{0}, sent_{0}, received_{0};
};

}  // namespace ham::detail
