// Receiving from many connections: one busy socket is read directly, many through epoll, so that quiet ones cost
// nothing.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "base/unique_fd.hpp"
#include "transport/tcp/endpoint.hpp"

namespace ham::inline v1::transport::tcp {

/// One thread at a time polls, arms and forgets; what any thread may call says so.
class poller {
 public:
  /// Throws ham::config_error.
  poller();

  /// From its next poll on. `fresh` must outlive that, or be forgotten. Any thread.
  void add(tcp_endpoint& fresh);
  /// Takes an endpoint out for good; its frames stay valid until the next poll.
  void forget(const std::shared_ptr<tcp_endpoint>& which);
  /// The endpoint's socket has nothing to give any more. Any thread.
  void mute(tcp_endpoint& which) noexcept { which.entry().take_out(sockets_.get(), true); }

  [[nodiscard]] endpoint* poll(frame& out);
  /// Before sleeping on wake_fd(). False: there is something to poll for already.
  [[nodiscard]] bool arm();
  void disarm() noexcept;
  [[nodiscard]] int wake_fd() const noexcept { return sockets_.get(); }
  /// Any thread.
  void wake() noexcept;

 private:
  void take_fresh();
  endpoint* poll_only(frame& out);
  endpoint* poll_many(frame& out);
  endpoint* poll_ready(frame& out);
  void find_ready();
  void push_gathered();
  void list_all();

  base::unique_fd sockets_;  // epoll over all data sockets and event_
  base::unique_fd event_;
  std::vector<tcp_endpoint*> polled_;
  std::vector<tcp_endpoint*> ready_;
  std::vector<std::shared_ptr<tcp_endpoint>> leaving_;  // forgotten since the last poll
  tcp_endpoint* hot_ = nullptr;
  tcp_endpoint* unlisted_ = nullptr;  // not in sockets_ while it is the only one and busy
  unsigned only_streak_ = 0;
  unsigned streak_ = 0;
  unsigned polls_ = 0;

  std::atomic<bool> has_fresh_{false};
  std::mutex mutex_;
  std::vector<tcp_endpoint*> fresh_;  // not yet polled; guarded by mutex_
};

}  // namespace ham::transport::tcp
