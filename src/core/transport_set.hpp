// The transports of a node: which of them is polled when.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "transport/transport.hpp"

namespace ham::inline v1::detail {

/// The first one is polled at every turn, which costs nanoseconds. To poll one of the others may be a system call: done
/// at every turn only for a while after one of them had something.
class transport_set {
 public:
  static constexpr std::size_t max_transports = 16;

  // ---- the receiving lock is held
  /// Throws ham::config_error if there are too many.
  void add(std::unique_ptr<transport::transport> one);
  /// The next frame of any endpoint, or nullptr; polls the first transport up to `polls` times.
  [[nodiscard]] transport::endpoint* poll(transport::frame& out, unsigned polls) {
    const std::size_t count = count_.load(std::memory_order_relaxed);
    if (count == 0) [[unlikely]]
      return nullptr;
    if (transport::endpoint* const from = all_[0]->poll(out, polls)) return from;
    return count == 1 ? nullptr : poll_others(out);
  }
  /// Announces to all of them that this node goes to sleep. False: one of them has something, and none is armed.
  [[nodiscard]] bool arm();
  void disarm() noexcept;
  /// An endpoint, whose transport is not known, was closed for good.
  void forget(transport::endpoint& closed) noexcept;

  // ---- any thread
  [[nodiscard]] bool empty() const noexcept { return count_.load(std::memory_order_acquire) == 0; }
  /// By the first of them, which is the one that knows how.
  void connect(node_t node) { all_[0]->connect(node); }
  [[nodiscard]] bool oversubscribed() const noexcept;
  /// The core that one of them would have this node wake up on; negative: any.
  [[nodiscard]] int home_core() const noexcept;
  /// After arm(): how long a thread may sleep before it polls again; base::never_ns: for ever.
  [[nodiscard]] std::int64_t max_sleep_ns() const noexcept;
  /// The process behind a node of this machine, which one of them has started; negative: not known.
  [[nodiscard]] std::int64_t peer_pid(node_t node) const noexcept;
  /// See transport::recorded_by.
  [[nodiscard]] std::vector<std::byte> recorded_by(node_t node) const;
  /// See transport::shutdown.
  void shutdown() noexcept;
  /// In a child after fork: their threads are not here, and their memory and processes are the parent's.
  void detach_after_fork() noexcept;

 private:
  [[nodiscard]] std::span<const std::unique_ptr<transport::transport>> all() const noexcept {
    return {all_.data(), count_.load(std::memory_order_acquire)};
  }
  transport::endpoint* poll_others(transport::frame& out);

  static constexpr unsigned max_hot_polls = 512;

  std::array<std::unique_ptr<transport::transport>, max_transports> all_;
  std::atomic<std::size_t> count_{0};
  // Under the receiving lock; of the transports behind the first.
  unsigned hot_polls_left_ = 0;
  unsigned skipped_ = 0;
};

}  // namespace ham::detail
