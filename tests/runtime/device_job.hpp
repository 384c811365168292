// A job whose nodes are threads of this process; node 1 has an emulated device.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>

#include "ham/device.hpp"
#include "offload/loopback_job.hpp"
#include "runtime/device_calls.hpp"
#include "transport/cuda/emulated_device.hpp"

namespace ham::inline v1::test {

class owner_of_device final : public transport::device_owner {
 public:
  explicit owner_of_device(const transport::cuda::geometry& of) : of_(of) {}
  [[nodiscard]] std::unique_ptr<transport::device_driver> take_device() override {
    return std::make_unique<transport::cuda::emulated_device>(of_);
  }
  [[nodiscard]] limits device_limits() const noexcept override { return {of_.linger_ns, of_.watchdog_ns}; }

 private:
  const transport::cuda::geometry of_;
};

/// Three targets.
class device_job : public testing::Test {
 protected:
  device_job() : owner({.blocks = 2, .warps = 2, .lanes = 2, .linger_ns = 2'000'000}) {
    const auto address = offload::sync(1, [] { return reinterpret_cast<std::uintptr_t>(&ham::detail::current()); });
    calls = std::make_unique<ham::detail::device_calls>(*reinterpret_cast<ham::detail::engine*>(address), owner);
  }

  runtime job{loopback(3)};
  owner_of_device owner;
  std::unique_ptr<ham::detail::device_calls> calls;
};

}  // namespace ham::test
