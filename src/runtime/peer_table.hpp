// The peers of a node, by number: a table that may grow while other threads read it.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>

#include "runtime/peer.hpp"

namespace ham::detail {

class peer_table {
 public:
  static constexpr std::size_t most = 4096;  ///< what a bell of the shared-memory transport has bits for

  explicit peer_table(std::size_t count) : peers_(new std::atomic<peer*>[most]()) { grow_to(count); }
  ~peer_table() {
    for (peer* one : *this) delete one;
  }
  peer_table(const peer_table&) = delete;
  peer_table& operator=(const peer_table&) = delete;

  [[nodiscard]] std::size_t size() const noexcept { return count_.load(std::memory_order_acquire); }
  /// `node` is below size().
  [[nodiscard]] peer& operator[](node_t node) const noexcept {
    return *peers_[static_cast<std::size_t>(node)].load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool has(node_t node) const noexcept { return node >= 0 && static_cast<std::size_t>(node) < size(); }

  /// Makes room for the nodes below `count`; never shrinks. False: more than there may be. Any thread.
  bool grow_to(std::size_t count) {
    if (count > most) return false;
    std::lock_guard guard(mutex_);
    for (std::size_t at = count_.load(std::memory_order_relaxed); at < count; ++at) {
      peers_[at].store(new peer(static_cast<node_t>(at)), std::memory_order_relaxed);
      count_.store(at + 1, std::memory_order_release);
    }
    return true;
  }

  class iterator {
   public:
    explicit iterator(const std::atomic<peer*>* at) noexcept : at_(at) {}
    peer* operator*() const noexcept { return at_->load(std::memory_order_relaxed); }
    iterator& operator++() noexcept {
      ++at_;
      return *this;
    }
    bool operator==(const iterator&) const noexcept = default;

   private:
    const std::atomic<peer*>* at_;
  };
  [[nodiscard]] iterator begin() const noexcept { return iterator(peers_.get()); }
  [[nodiscard]] iterator end() const noexcept { return iterator(peers_.get() + size()); }

 private:
  std::unique_ptr<std::atomic<peer*>[]> peers_;
  std::atomic<std::size_t> count_{0};
  std::mutex mutex_;
};

}  // namespace ham::detail
