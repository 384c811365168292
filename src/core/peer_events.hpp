// What transports report of nodes, from any thread, until the thread that polls handles it.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/peer_table.hpp"
#include "core/waiter.hpp"

namespace ham::inline v1::detail {

struct peer_event {
  transport::endpoint* connected;  ///< or nullptr:
  node_t lost = -1;
  peer_end how = peer_end::connection_lost;
  std::string reason;
};

/// Wants to see what was reported handled soon, also if no thread makes progress.
class report_listener {
 public:
  virtual ~report_listener() = default;
  /// Any thread, perhaps one that holds the receiving lock, or locks of a transport. Does not wait.
  virtual void on_report() noexcept = 0;
};

/// All members may be called from any thread, unless said otherwise.
class peer_events final : public transport::observer {
 public:
  peer_events(peer_table& peers, waiter& wakes) noexcept : peers_(peers), waiter_(wakes) {}

  /// Whether something is to be handled.
  [[nodiscard]] bool pending() const noexcept {
    return pending_.load(std::memory_order_seq_cst);  // who goes to sleep has said so before
  }
  /// nullptr: nobody. It stays for as long as transports report something.
  void use_listener(report_listener* listener) noexcept { listener_.store(listener, std::memory_order_release); }
  void on_connected(transport::endpoint& with) override { post({&with, -1, peer_end::none, {}}); }
  void on_broken(node_t node, const std::string& reason) override {
    report_end(node, peer_end::connection_broken, reason);
  }
  void on_lost(node_t node, const std::string& reason) override { report_end(node, peer_end::connection_lost, reason); }
  void on_died(node_t node, const std::string& reason) override { report_end(node, peer_end::process_died, reason); }
  /// If there is no memory to report it, the record of the peer is marked instead.
  void report_end(node_t node, peer_end how, const std::string& reason) noexcept;
  /// The node is lost because of what was caught.
  void report_lost(node_t node, const std::exception& why) noexcept;
  /// For who has left something else to the thread that polls, which finds it after handle_all().
  void announce() noexcept;
  /// For who has marked something for want of memory.
  void report_without_memory() noexcept;

  /// Calls handle(event) for what was reported, in order, then handle(event) and end() for what was marked only. True
  /// if there was something. The receiving lock is held.
  template <class Handle, class End>
  bool handle_all(Handle handle, End end) noexcept {
    std::vector<peer_event> events = take();
    for (peer_event& one : events) handle(one);
    const bool marked = marked_.exchange(false);
    if (marked) [[unlikely]] {
      for (peer* const one : peers_) {
        peer_event what{nullptr, one->node, one->unreported.exchange(peer_end::none), "no memory left"};  // fits
        if (what.how != peer_end::none) handle(what);
      }
      end();
    }
    return marked || !events.empty();
  }
  /// In a child after fork: nothing is reported any more.
  void detach_after_fork() noexcept;

 private:
  void post(peer_event what);
  [[nodiscard]] std::vector<peer_event> take() noexcept;

  peer_table& peers_;
  waiter& waiter_;
  std::atomic<bool> pending_{false};
  std::mutex mutex_;
  std::vector<peer_event> events_;
  std::atomic<bool> marked_{false};  ///< peers, or calls
  std::atomic<report_listener*> listener_{nullptr};
};

}  // namespace ham::detail
