// What host and targets say to each other over the control socket, with descriptors beside it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ham::inline v1::transport::shm {

enum class control_kind : std::uint32_t {
  welcome = 1,  ///< host to target, first: fds job, pair, own heap, host's heap, own event, host's event
  connect,      ///< target to host: I want to talk to `peer`
  connected,    ///< host to target: fds pair, peer's heap, peer's event
  refused,      ///< host to target: `peer` cannot be connected, or its connection to the host is gone
  joined,       ///< target to host: I have joined; what ends me from now on is no failed start
  ended,        ///< host to target: the process of `peer` has ended, which executes nothing any more
};

struct control_text {
  static constexpr std::uint32_t protocol = 7;
  std::uint32_t version = protocol;
  control_kind kind{};
  std::int32_t peer = 0;    ///< welcome: number of the host
  std::int32_t node = 0;    ///< welcome: number of the receiver
  std::uint32_t nodes = 0;  ///< welcome: number of nodes of the job
  std::uint32_t side = 0;
  std::uint32_t epoch = 0;
  std::int32_t pid = 0;  ///< welcome: of the host; connected: of the peer; as the host sees them, 0: it does not
};
static_assert(sizeof(control_text) == 32 && offsetof(control_text, peer) == 8 && offsetof(control_text, epoch) == 24);

}  // namespace ham::transport::shm
