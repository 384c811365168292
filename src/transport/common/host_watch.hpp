// Ends a target with the host that started it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "base/unique_fd.hpp"
#include "transport/transport.hpp"

namespace ham::inline v1::transport {

/// A thread that waits for the end of the control socket between a target and its host (target_supervisor).
class host_watch {
 public:
  /// Called on the thread when the host has closed the socket or has ended; not after stop().
  using lost_handler = std::function<void()>;

  /// `control_fd` outlives this object. A process that goes on for half a second after it has lost its host is ended:
  /// its work has no owner any more. Throws ham::config_error or std::system_error.
  host_watch(int control_fd, lost_handler on_lost);
  ~host_watch() { stop(); }
  host_watch(const host_watch&) = delete;
  host_watch& operator=(const host_watch&) = delete;

  /// The process ends by itself. Waits for the thread; may be called again.
  void stop() noexcept;

 private:
  void watch_control();

  const int control_fd_;
  const lost_handler on_lost_;
  std::atomic<bool> stopping_{false};
  base::unique_fd stop_event_;
  std::thread thread_;
};

/// Tells the host that its target has joined, and watches it from then on; `to` is told of its end as the loss of the
/// node `host`. `control_fd` and `to` outlive the watch. Throws as host_watch does.
[[nodiscard]] std::unique_ptr<host_watch> join_and_watch(int control_fd, node_t host, observer& to);

}  // namespace ham::transport
