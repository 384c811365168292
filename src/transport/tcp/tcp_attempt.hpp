// A connection that this side makes: one address after the other, until one leads to the peer.
#pragma once

#include <optional>

#include "transport/tcp/tcp_network.hpp"

namespace ham::transport::tcp {

/// All of it at once, by the calling thread. Nothing: it could not be made within `timeout`.
[[nodiscard]] std::optional<connection> connect_now(const socket_address& to, std::shared_ptr<const tls_context> key,
                                                    const hello& mine, std::chrono::milliseconds timeout);

struct tcp_network::attempt : source {
  node_t peer = -1;
  purpose why = purpose::reach;
  std::string address;  // as it was given
  std::shared_ptr<const tls_context> key;
  std::vector<socket_address> all;
  std::vector<socket_address> left;
  std::optional<handshake> on_the_way;
  std::int64_t deadline_ns = 0;
  std::string trouble;  // with the last address
  bool crossed = false;
  std::int64_t again_ns = 0;  // when to begin anew; 0: it is under way
  int hang_ups = 0;
  bool refused = false;  // by a server that serves as many as it may
};

}  // namespace ham::transport::tcp
