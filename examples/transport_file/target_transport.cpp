// Joining a job through two inherited files.
#include "target_transport.hpp"

#include <cstring>
#include <utility>

#include "base/memory_file.hpp"
#include "transport/common/joining.hpp"

namespace ham::inline v1::transport::file {

invitation invitation::accept(int control_fd) {
  invitation result;
  result.control = base::unique_fd(control_fd);
  base::control_message message = receive_welcome_of_own_user(control_fd);
  welcome& said = result.said;
  if (message.bytes.size() == sizeof said) std::memcpy(&said, message.bytes.data(), sizeof said);
  const bool sane = message.bytes.size() == sizeof said && said.version == welcome::protocol && said.node > 0 &&
                    said.host >= 0 && said.host != said.node && said.nodes > 1 && said.running > 1;
  if (!sane) decline(control_fd, "the host of this target speaks another version; build both from the same release");
  expect_descriptors(control_fd, message, 2);
  result.files.incoming = std::move(message.fds[0]);
  result.files.outgoing = std::move(message.fds[1]);
  if (base::file_size(result.files.incoming.get()) < frames_begin) {
    decline(control_fd, "the file of this target's frames is too short; build both from the same release");
  }
  return result;
}

target_transport::target_transport(invitation from, observer& to) : file_transport(to), invitation_(std::move(from)) {
  expect_running(invitation_.said.running);
}

target_transport::~target_transport() { shutdown(); }

void target_transport::join() {
  const node_t host = invitation_.said.host;
  add(host, std::move(invitation_.files));
  watch_ = join_and_watch(invitation_.control.get(), host, observing());
}

void target_transport::connect(node_t peer) {
  observing().on_lost(peer, "targets of the transport file reach their host only; call it from there");
}

void target_transport::shutdown() noexcept {
  if (watch_ != nullptr) watch_->stop();
}

}  // namespace ham::transport::file
