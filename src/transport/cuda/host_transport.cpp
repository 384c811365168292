#include "transport/cuda/host_transport.hpp"

#include <array>
#include <memory>
#include <span>
#include <utility>

#include "base/clock.hpp"
#include "base/heap.hpp"
#include "transport/common/mapped_memory.hpp"

namespace ham::inline v1::transport::cuda {

host_transport::host_transport(std::string transport, node_t self, int heap_fd, observer& to)
    : ring_transport(bell_page::of(self), bell_page::event.get(), to),
      name_(transport),
      self_(self),
      heap_fd_(heap_fd),
      next_epoch_(static_cast<std::uint32_t>(base::now_ns())),
      children_(std::move(transport), [this](node_t node, const std::string& reason, target_supervisor::child_end how) {
        if (how == target_supervisor::child_end::exited)
          observing().on_died(node, reason);
        else
          observing().on_lost(node, reason);
      }) {}

host_transport::~host_transport() { shutdown(); }

void host_transport::start(const std::vector<target_plan>& plans, std::uint32_t nodes) {
  for (const target_plan& plan : plans) start_one(plan, nodes);
}

void host_transport::start_one(const target_plan& plan, std::uint32_t nodes) {
  const node_t node = plan.process.node;
  welcome said;
  said.node = node;
  said.host = self_;
  said.nodes = nodes;
  said.running = plan.running;
  said.epoch = next_epoch_ = next_epoch_ * 1664525U + 1013904223U;
  said.device = plan.device;
  const base::unique_fd rings_file = base::make_memory_file("ham-rings", ring_pair::file_bytes());
  base::mapping rings = ring_pair::map(rings_file.get());
  base::unique_fd heap = base::heap::make_file();
  base::unique_fd event = base::make_event();
  const std::array<int, welcome_fds> fds{bell_page::file.get(), rings_file.get(),      heap.get(), heap_fd_,
                                         event.get(),           bell_page::event.get()};
  children_.start(plan.process, std::as_bytes(std::span(&said, 1)), fds);
  running_.store(plan.running);

  auto one = std::make_unique<ring_endpoint>(node, self_, ring_pair::in(rings, said.epoch), 0U,
                                             remote_bell{&bell_page::of(node), event.get()});
  if (plan.device.memory == memory_kind::shared) one->set_memory(std::make_shared<mapped_memory>(std::move(heap)));
  if (plan.device.memory == memory_kind::device) one->set_peer_copies_mapped();
  one->keep(std::move(rings), std::move(event));
  adopt(std::move(one));
}

void host_transport::forget(endpoint& with) noexcept {
  ring_transport::forget(with);
  running_.fetch_sub(1);
}

}  // namespace ham::transport::cuda
