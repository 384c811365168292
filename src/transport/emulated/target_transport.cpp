// Joining a job over an emulated link, and ending with it.
#include "transport/emulated/target_transport.hpp"

#include <cstring>
#include <utility>

#include "transport/common/joining.hpp"
#include "transport/emulated/segment.hpp"

namespace ham::inline v0::transport::emulated {

invitation invitation::accept(int control_fd) {
  invitation result;
  result.control = base::unique_fd(control_fd);
  base::control_message message = receive_welcome_of_own_user(control_fd);
  welcome& said = result.said;
  if (message.bytes.size() != sizeof said) decline(control_fd, "its host's first message is of another release");
  std::memcpy(&said, message.bytes.data(), sizeof said);
  const bool sane = said.version == welcome::protocol && said.node > 0 && said.host >= 0 && said.host != said.node &&
                    said.nodes > 1 && said.layout.sane() && said.running > 1 && said.costs.sane();
  if (!sane) decline(control_fd, "the host of this target speaks another version; build both from the same release");
  expect_descriptors(control_fd, message, 3);
  auto& fds = message.fds;
  result.segment_file = std::move(fds[0]);
  result.own_heap = std::move(fds[1]);
  result.host_heap = std::move(fds[2]);
  if (base::file_size(result.segment_file.get()) < segment::bytes(said.layout)) {
    decline(control_fd, "the memory of this target's link is too small; build both from the same release");
  }
  return result;
}

target_transport::target_transport(invitation from, observer& to) : link_transport(to), invitation_(std::move(from)) {
  expect_running(invitation_.said.running);
}

target_transport::~target_transport() { shutdown(); }

void target_transport::join() {
  const welcome& said = invitation_.said;
  base::mapping memory(invitation_.segment_file.get(), segment::bytes(said.layout));
  add(said.host, said, target_side, std::move(memory), std::move(invitation_.host_heap));
  watch_ = join_and_watch(invitation_.control.get(), said.host, observing());
}

void target_transport::connect(node_t peer) {
  observing().on_lost(peer, "a target at the end of an emulated link reaches its host only");
}

void target_transport::shutdown() noexcept {
  if (watch_ != nullptr) watch_->stop();
}

}  // namespace ham::transport::emulated
