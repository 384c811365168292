// Receiving from any number of line rings: a few hot ones are polled, the others ring a bell.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/shared_event.hpp"
#include "transport/common/pending_endpoints.hpp"
#include "transport/common/ring_endpoint.hpp"

namespace ham::inline v1::transport {

/// The part that loopback and shm have in common. Looking costs the same with 1 and with 1000 quiet peers: at most
/// eight rings are hot; the rest are armed, so that their senders set a bit that is polled for all of them at once. A
/// ring that a waiting thread reads by itself is polled now and then.
class ring_transport : public transport {
 public:
  /// `own` and `event_fd` belong to the derived class's node and outlive this object.
  ring_transport(bell& own, int event_fd, observer& to);

  [[nodiscard]] endpoint* poll(frame& out, unsigned polls) override;
  [[nodiscard]] bool arm() override;
  void disarm() noexcept override;
  [[nodiscard]] int wake_fd() const noexcept override { return event_.fd(); }
  [[nodiscard]] std::int64_t max_sleep_ns() const noexcept override;
  void wake() noexcept override;
  void forget(endpoint& with) noexcept override;

 protected:
  /// Takes a new endpoint in; any thread.
  void adopt(std::unique_ptr<ring_endpoint> endpoint);
  [[nodiscard]] observer& observing() noexcept { return observer_; }
  /// `peer` sends no more: it is told as lost when all that it has sent was taken, unless it is forgotten before. Any
  /// thread.
  void lose_when_empty(node_t peer, std::string reason);
  /// Bells are memory that hostile peers may write as well: all rings are looked at at least so often. Before use.
  void look_at_all_every(std::int64_t ns) noexcept { look_at_all_ns_ = ns; }
  /// Told before and after sleeping.
  virtual void asleep(bool) noexcept {}

 private:
  static constexpr std::size_t max_hot = 8;
  static constexpr std::size_t max_arming = 32;

  struct ended_peer {
    node_t node;
    std::string reason;
  };

  class readers_kept_out;
  void answer_bell();
  void look_at_all();
  void adopt_pending();
  void report_ended();
  void promote(ring_endpoint& one);
  void cool_oldest();
  void settle_arming();
  endpoint* look_around(frame& out);
  endpoint* look_at(ring_endpoint& one, frame& out);
  endpoint* poll_arming(frame& out);
  void drop(ring_endpoint& one);
  bool order_senders() noexcept;

  bell& bell_;
  int event_fd_;
  base::shared_event event_;
  observer& observer_;

  pending_endpoints<ring_endpoint> pending_;
  std::mutex mutex_;
  std::vector<ended_peer> ended_;  // not told yet; guarded by mutex_
  std::atomic<bool> any_ended_{false};
  std::vector<std::unique_ptr<ring_endpoint>> endpoints_;
  std::vector<ring_endpoint*> by_place_;
  std::vector<std::unique_ptr<ring_endpoint>> leaving_;  // forgotten since the last poll
  std::vector<ring_endpoint*> hot_;
  std::vector<ring_endpoint*> arming_;  // armed, but a sender may not have seen it yet: still looked at now and then
  std::size_t cursor_ = 0;
  std::size_t arming_cursor_ = 0;
  std::size_t arming_limit_ = max_arming;  // more than this many are settled together with one fence
  unsigned streak_ = 0;
  unsigned visits_ = 0;             // polls since the start, to come round to the rings that others look at
  bool attended_left_out_ = false;  // of this poll
  std::uint64_t hits_ = 0;
  std::uint32_t sleeps_ = 0;
  std::int64_t look_at_all_ns_ = base::never_ns;
  std::int64_t looked_at_all_ns_ = 0;
  const bool orders_senders_;  // senders do without a fence of their own
  bool lost_order_ = false;    // they still do, but the kernel refuses membarrier now
};

}  // namespace ham::transport
