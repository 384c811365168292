// Receiving from endpoints that must be looked at; sleep is a timer.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "base/unique_fd.hpp"
#include "transport/common/pending_endpoints.hpp"
#include "transport/common/polled_endpoint.hpp"

namespace ham::inline v1::transport {

/// How long a sleeper sleeps between two polls: the shortest time first, twice as long each time that nothing came. The
/// longest is what an idle node's frame may wait.
struct polling_interval {
  std::chrono::nanoseconds shortest{50'000};
  std::chrono::nanoseconds longest{4'000'000};
};

/// A poll may be a remote access of a microsecond, or of a hundred: each call of poll checks the peer that sent
/// last and one of the others in turn. Where frames come in quick succession this side stays awake until the next
/// one is overdue: an exchange over a slow medium leaves gaps that a sleep of the shortest time would make much longer.
class polled_transport : public transport {
 public:
  /// `interval`: while asleep. Throws ham::config_error.
  polled_transport(observer& to, polling_interval interval);

  [[nodiscard]] endpoint* poll(frame& out, unsigned polls) override;
  [[nodiscard]] bool arm() override;
  void disarm() noexcept override;
  [[nodiscard]] int wake_fd() const noexcept override { return either_.get(); }
  void wake() noexcept override;
  void forget(endpoint& with) noexcept override;

 protected:
  /// Takes a new endpoint in; any thread.
  void adopt(std::unique_ptr<polled_endpoint> endpoint);
  [[nodiscard]] observer& observing() noexcept { return observer_; }
  /// The runtime has no more use for the endpoint of a node.
  virtual void forgotten(node_t) noexcept {}
  /// Whether a look is a matter of nanoseconds.
  [[nodiscard]] virtual bool polls_are_cheap() const noexcept = 0;

 private:
  void take_adopted();
  endpoint* look_at(polled_endpoint& one, frame& out);
  endpoint* look_around(frame& out);
  void note_arrival();
  [[nodiscard]] bool quiet();
  [[nodiscard]] bool worth_a_look();

  observer& observer_;
  polling_interval interval_;
  std::chrono::nanoseconds next_sleep_;
  base::unique_fd event_, timer_, either_;

  pending_endpoints<polled_endpoint> pending_;
  std::vector<std::unique_ptr<polled_endpoint>> endpoints_;
  std::vector<polled_endpoint*> open_;
  std::vector<std::unique_ptr<polled_endpoint>> leaving_;  // forgotten since the last poll
  polled_endpoint* last_heard_ = nullptr;
  std::size_t cursor_ = 0;
  unsigned polls_since_backed_off_ = 0;  // made since a sleep that nothing ended but the timer
  bool backed_off_ = false;
  std::int64_t last_arrival_ns_ = 0;
  std::int64_t usual_gap_ns_ = 0;  // between arrivals, as far as it is worth staying awake for
  unsigned streak_ = 0;
};

}  // namespace ham::transport
