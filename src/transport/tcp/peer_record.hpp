// What a network knows of one peer.
#pragma once

#include <sys/epoll.h>

#include "transport/tcp/network.hpp"

namespace ham::inline v1::transport::tcp {

struct tcp_network::peer_record final : io_thread::source {
  explicit peer_record(tcp_network& of) : network(of) {}

  void on_events(std::uint32_t events) override {
    if ((events & EPOLLOUT) != 0 && end->sender().writable()) network.wake();
    if ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) end->hung_up();
  }
  /// Ends all transfers, in both directions.
  void end_transfers() noexcept {
    if (bulk != nullptr) bulk->close();
    network.lanes_.cut(end->peer());
  }

  tcp_network& network;
  std::shared_ptr<tcp_endpoint> end;
  std::shared_ptr<bulk_client> bulk;  // nullptr: the peer offers no memory
  socket_address bulk_address;        // of size 0: unknown
  bool unreachable = false;           // the last connection to bulk_address failed
  std::int64_t asked_ns = 0;          // since when the peer is asked for a lane without opening one; 0: it is not
  std::size_t lanes_begun = 0;        // attempts to open one that the peer has asked for
  std::int64_t reap_ns = 0;           // of the I/O thread; 0: not yet
  bool lost = false;                  // as was reported
  bool reaped = false;
  bool forgotten = false;
};

}  // namespace ham::transport::tcp
