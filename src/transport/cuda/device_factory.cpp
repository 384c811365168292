#include "transport/cuda/device_factory.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/settings.hpp"
#include "transport/common/invited_target.hpp"
#include "transport/common/joining.hpp"
#include "transport/cuda/host_transport.hpp"
#include "transport/cuda/nvidia/visible_gpus.hpp"
#include "transport/cuda/settings.hpp"
#include "transport/cuda/target_transport.hpp"

namespace ham::inline v1::transport::cuda {
namespace {

class cuda_host final : public host_side {
 public:
  explicit cuda_host(host_transport& carrier) noexcept : carrier_(carrier) {}

  void start(const target_group& group, std::vector<start_plan> plans, job_size job) override {
    std::vector<target_plan> all;
    for (start_plan& one : plans) {
      const geometry device = device_of(group, one.member);
      std::vector<std::string> environment = std::move(one.environment);
      if (device.gpu != geometry::emulated) {
        for (std::string& more : gpu_environment(base::foreign_variable("CUDA_VISIBLE_DEVICES"), device.gpu))
          environment.push_back(std::move(more));
      }
      all.push_back({{one.node, std::move(one.command), std::move(one.cores), one.output, std::move(environment)},
                     device,
                     job.living});
    }
    carrier_.start(all, job.nodes);
  }
  void end(node_t node, std::chrono::milliseconds timeout) override { carrier_.end(node, timeout); }

 private:
  static geometry device_of(const target_group& group, std::size_t member) {
    constexpr std::int64_t usual_linger_us = 5000;
    geometry of = static_cast<const group_geometry&>(*group.settings).of_member(member, group.places());
    if (of.linger_ns == geometry::linger_of_setting)
      of.linger_ns = 1000 * base::number_of(base::setting::cuda_linger).value_or(usual_linger_us);
    return of;
  }

  host_transport& carrier_;
};

}  // namespace

host_parts device_factory::make_host(node_t self, base::heap& memory, observer& to) const {
  auto carrier = std::make_unique<host_transport>(std::string(name()), self, memory.fd(), to);
  auto side = std::make_unique<cuda_host>(*carrier);
  return {std::move(carrier), std::move(side)};
}

std::unique_ptr<target_side> device_factory::make_target(std::string_view told) const {
  auto from = invitation::accept(control_fd_of(told));
  const node_t self = from.said.node;
  const node_t host = from.said.host;
  const std::size_t nodes = from.said.nodes;
  return std::make_unique<invited_target<target_transport, invitation>>(std::move(from), self, host, nodes);
}

}  // namespace ham::transport::cuda
