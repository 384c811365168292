// An endpoint that leads nowhere.
#pragma once

#include <string>

#include "transport/transport.hpp"

namespace ham::inline v1::detail {

/// Takes nothing and gives nothing: in place of the endpoint of a peer that was lost, which the transport destroys, and
/// of every endpoint in a child after fork.
class no_endpoint final : public transport::endpoint {
 public:
  no_endpoint() : endpoint(-1) {}
  [[nodiscard]] std::size_t max_payload() const noexcept override { return 0; }
  [[nodiscard]] std::byte* reserve(std::size_t) noexcept override { return nullptr; }
  void cancel() noexcept override {}
  void commit(const transport::frame_head&) noexcept override {}
  [[nodiscard]] std::uint64_t consumed() const noexcept override { return 0; }
  [[nodiscard]] bool poll(transport::frame&) noexcept override { return false; }
  void release() noexcept override {}
  [[nodiscard]] transport::endpoint_state state() const noexcept override { return transport::endpoint_state::broken; }
  [[nodiscard]] std::string reason() const override { return {}; }
  void close(const std::string&) noexcept override {}
  static no_endpoint& instance() noexcept {
    static no_endpoint one;
    return one;
  }
};

}  // namespace ham::detail
