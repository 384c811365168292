// An endpoint on no medium, for what all endpoints of a kind have in common.
#pragma once

#include <cstddef>

#include "transport/transport.hpp"

namespace ham::inline v1::test {

/// `Base` with nothing to send or to receive.
template <class Base>
class idle_endpoint_of : public Base {
 public:
  using Base::Base;
  [[nodiscard]] std::size_t max_payload() const noexcept override { return 0; }
  [[nodiscard]] std::byte* reserve(std::size_t) noexcept override { return nullptr; }
  void cancel() noexcept override {}
  void commit(const transport::frame_head&) noexcept override {}
  [[nodiscard]] std::uint64_t consumed() const noexcept override { return 0; }
  [[nodiscard]] bool poll(transport::frame&) noexcept override { return false; }
  void release() noexcept override {}
};

}  // namespace ham::test
