// Starting a target with its two files.
#include "host_transport.hpp"

#include <array>
#include <span>
#include <utility>

#include "unnamed_file.hpp"

namespace ham::inline v1::transport::file {

host_transport::host_transport(node_t self, observer& to)
    : file_transport(to),
      self_(self),
      children_("file", [this](node_t node, const std::string& reason, target_supervisor::child_end how) {
        on_end(node, reason, how);
      }) {}

host_transport::~host_transport() { shutdown(); }

void host_transport::start(const target_supervisor::plan& what, const std::string& folder, std::uint32_t nodes,
                           std::uint32_t running) {
  welcome said;
  said.node = what.node;
  said.host = self_;
  said.nodes = nodes;
  said.running = running;
  file_pair files{make_unnamed_file(folder), make_unnamed_file(folder)};
  const std::array<int, 2> of_target{files.outgoing.get(), files.incoming.get()};
  children_.start(what, std::as_bytes(std::span(&said, 1)), of_target);
  expect_running(running);
  add(what.node, std::move(files));
}

/// What a process has consumed stands in its file, also when it has ended.
void host_transport::on_end(node_t node, const std::string& reason, target_supervisor::child_end how) {
  if (how == target_supervisor::child_end::exited)
    observing().on_died(node, reason);
  else
    observing().on_lost(node, reason);
}

}  // namespace ham::transport::file
