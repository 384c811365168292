// Joining a job over an emulated link, and ending with it.
#include "transport/emulated/target_transport.hpp"

#include <utility>

#include "transport/common/joining.hpp"
#include "transport/emulated/segment.hpp"

namespace ham::inline v1::transport::emulated {

invitation invitation::accept(int control_fd) {
  invitation result;
  result.control = base::unique_fd(control_fd);
  base::control_message message = receive_welcome(control_fd, result.said, 3);
  auto& fds = message.fds;
  result.segment_file = std::move(fds[0]);
  result.own_heap = std::move(fds[1]);
  result.host_heap = std::move(fds[2]);
  if (base::file_size(result.segment_file.get()) < segment::bytes(result.said.layout)) {
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
