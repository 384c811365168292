// What the transports of devices have in common: a process of this machine for each device. They differ in the device.
#pragma once

#include <memory>
#include <string_view>

#include "transport/cuda/geometry.hpp"
#include "transport/starting.hpp"

namespace ham::inline v1::transport::cuda {

class device_factory : public starting_factory {
 public:
  [[nodiscard]] bool starts_own_program() const noexcept override { return true; }
  [[nodiscard]] bool redirects_output() const noexcept override { return true; }
  [[nodiscard]] host_parts make_host(node_t self, base::heap& memory, observer& to) const override;
  [[nodiscard]] std::unique_ptr<target_side> make_target(std::string_view told) const override;
};

}  // namespace ham::transport::cuda
