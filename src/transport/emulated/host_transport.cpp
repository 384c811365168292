// Starts the targets of an emulated link.
#include "transport/emulated/host_transport.hpp"

#include <fcntl.h>

#include <array>
#include <span>
#include <utility>

#include "base/clock.hpp"
#include "base/heap.hpp"
#include "transport/emulated/segment.hpp"

namespace ham::inline v1::transport::emulated {

host_transport::host_transport(node_t self, int heap_fd, observer& to)
    : link_transport(to),
      self_(self),
      heap_fd_(heap_fd),
      next_epoch_(static_cast<std::uint32_t>(base::now_ns())),
      children_("emulated", [this](node_t node, const std::string& reason, target_supervisor::child_end) {
        observing().on_lost(node, reason);
      }) {}

host_transport::~host_transport() { shutdown(); }

void host_transport::start(const std::vector<target_plan>& plans, std::uint32_t nodes) {
  for (const target_plan& plan : plans) start_one(plan, nodes);
}

void host_transport::start_one(const target_plan& plan, std::uint32_t nodes) {
  welcome said;
  said.node = plan.process.node;
  said.host = self_;
  said.nodes = nodes;
  said.running = plan.running;
  said.epoch = next_epoch_ = next_epoch_ * 1664525U + 1013904223U;
  said.costs = plan.costs;
  const std::size_t bytes = segment::bytes(said.layout);
  const base::unique_fd file = base::make_memory_file("ham-emulated", bytes);
  base::mapping memory(file.get(), bytes);
  const segment there{memory.data(), said.layout};
  initialise(said.layout, [&](std::uint64_t at, std::uint64_t word) { there.word(at).store(word); });

  base::unique_fd heap = base::heap::make_file();
  const std::array<int, 3> fds{file.get(), heap.get(), heap_fd_};
  children_.start(plan.process, std::as_bytes(std::span(&said, 1)), fds);
  expect_running(plan.running);
  add(plan.process.node, said, host_side, std::move(memory), std::move(heap));
}

}  // namespace ham::transport::emulated
