// Transports whose targets are threads of the host's process.
#pragma once

#include <cstddef>
#include <memory>

#include "base/heap.hpp"
#include "transport/factory.hpp"
#include "transport/transport.hpp"

namespace ham::inline v1::transport {

/// What the nodes of one such job share.
class node_group {
 public:
  node_group() = default;
  virtual ~node_group() = default;
  node_group(const node_group&) = delete;
  node_group& operator=(const node_group&) = delete;

  /// One node's side; may outlive this. `memory`: what peers may put to and get from; nullptr: nothing.
  [[nodiscard]] virtual std::unique_ptr<transport> open(node_t self, base::heap* memory, observer& to) = 0;
};

/// A transport of this kind. Its targets are not mixed with others, nor added later.
class in_process_factory : public factory {
 public:
  [[nodiscard]] const in_process_factory* as_in_process() const noexcept final { return this; }
  /// A job of `nodes` nodes, host included.
  [[nodiscard]] virtual std::unique_ptr<node_group> make_job(std::size_t nodes) const = 0;
};

}  // namespace ham::transport
