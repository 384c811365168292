// The thread of a target that waits for its host's end.
#include "transport/common/host_watch.hpp"

#include <poll.h>
#include <unistd.h>

#include <span>
#include <utility>

#include "base/control_socket.hpp"
#include "base/event_fds.hpp"
#include "base/thread.hpp"
#include "transport/common/target_supervisor.hpp"

namespace ham::inline v1::transport {
namespace {

constexpr int after_host_timeout_ms = 500;

}  // namespace

host_watch::host_watch(int control_fd, lost_handler on_lost)
    : control_fd_(control_fd), on_lost_(std::move(on_lost)), stop_event_(base::make_event()) {
  thread_ = base::start_thread([this] { watch_control(); });
}

void host_watch::watch_control() {
  pollfd waiting[2] = {{control_fd_, POLLIN, 0}, {stop_event_.get(), POLLIN, 0}};
  for (;;) {
    if (::poll(waiting, 2, -1) < 0) continue;
    if (waiting[1].revents != 0) return;
    bool closed = false;
    static_cast<void>(base::receive_control(control_fd_, false, closed));
    if (!closed) continue;
    if (!stopping_.load()) on_lost_();
    // Busy or not: the work has lost its owner, and nothing of it is in a file system.
    if (::poll(&waiting[1], 1, after_host_timeout_ms) == 0) ::_exit(0);
    return;
  }
}

void host_watch::stop() noexcept {
  if (stopping_.exchange(true)) return;
  base::signal_event(stop_event_.get());
  thread_.join();
}

std::unique_ptr<host_watch> join_and_watch(int control_fd, node_t host, observer& to) {
  base::send_control(control_fd, std::as_bytes(std::span(target_supervisor::joined)), {});
  return std::make_unique<host_watch>(control_fd, [host, &to] { to.on_lost(host, "the host closed the connection"); });
}

}  // namespace ham::transport
