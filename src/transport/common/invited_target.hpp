// The side of a target that has got an invitation with descriptors over its control socket.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "base/heap.hpp"
#include "transport/starting.hpp"

namespace ham::inline v1::transport {

/// `Invitation` has the host's memory for this target in own_heap, if the host makes it; Carrier::make(invitation,
/// observer) makes the transport, whose join() connects it.
template <class Carrier, class Invitation>
class invited_target final : public target_side {
 public:
  invited_target(Invitation from, node_t self, node_t host, std::size_t nodes)
      : invitation_(std::move(from)), self_(self), host_(host), nodes_(nodes) {}

  [[nodiscard]] node_t self() const noexcept override { return self_; }
  [[nodiscard]] node_t host() const noexcept override { return host_; }
  [[nodiscard]] std::size_t nodes() const noexcept override { return nodes_; }
  [[nodiscard]] std::unique_ptr<base::heap> take_memory() override {
    if constexpr (requires { invitation_.own_heap; })
      return std::make_unique<base::heap>(std::move(invitation_.own_heap));
    else
      return target_side::take_memory();
  }
  [[nodiscard]] std::unique_ptr<transport> open(observer& to) override {
    auto made = Carrier::make(std::move(invitation_), to);
    carrier_ = made.get();
    return made;
  }
  void join() override { carrier_->join(); }

 private:
  Invitation invitation_;
  const node_t self_;
  const node_t host_;
  const std::size_t nodes_;
  Carrier* carrier_ = nullptr;
};

}  // namespace ham::transport
