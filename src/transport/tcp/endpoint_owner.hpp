// What an endpoint asks of the network that it belongs to.
#pragma once

#include <string>

namespace ham::inline v1::transport::tcp {

class tcp_endpoint;

/// Any thread.
class endpoint_owner {
 public:
  virtual ~endpoint_owner() = default;
  /// Bytes were gathered that push_aged() would send.
  virtual void schedule_flush() noexcept = 0;
  /// Frames were taken that acknowledge() would tell of.
  virtual void schedule_ack() noexcept = 0;
  /// The connection has ended by itself.
  virtual void lost(tcp_endpoint& which, const std::string& reason) noexcept = 0;
  /// The peer broke the wire format.
  virtual void broken(tcp_endpoint& which, const std::string& reason) noexcept = 0;
  /// Nobody will use the socket any more.
  virtual void closed(tcp_endpoint& which) noexcept = 0;
  /// The socket has nothing to give any more.
  virtual void read_eof(tcp_endpoint& which) noexcept = 0;
  /// The peer wants a lane for bulk data.
  virtual void lane_wanted(tcp_endpoint& which) noexcept = 0;
  /// Much is under way to the peer: watch_silence() must be called soon.
  virtual void watch_soon() noexcept = 0;
};

}  // namespace ham::transport::tcp
