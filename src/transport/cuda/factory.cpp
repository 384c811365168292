// cuda-emulated in HAM_NODES: cuda-emulated[:COUNT][/KEY=VALUE]...[@CORES].
#include <utility>

#include "base/settings.hpp"
#include "transport/common/invited_target.hpp"
#include "transport/common/joining.hpp"
#include "transport/cuda/host_transport.hpp"
#include "transport/cuda/settings.hpp"
#include "transport/cuda/target_transport.hpp"
#include "transport/starting.hpp"

namespace ham::inline v0::transport {
namespace {

class cuda_host final : public host_side {
 public:
  explicit cuda_host(cuda::host_transport& carrier) noexcept : carrier_(carrier) {}

  void start(const target_group& group, std::vector<start_plan> plans, job_size job) override {
    constexpr std::int64_t usual_linger_us = 5000;
    cuda::geometry of = static_cast<const cuda::group_geometry&>(*group.settings).of;
    if (of.linger_ns == cuda::geometry::linger_of_setting)
      of.linger_ns = 1000 * base::number_of(base::setting::cuda_linger).value_or(usual_linger_us);
    std::vector<cuda::target_plan> all;
    for (start_plan& one : plans) {
      all.push_back({{one.node, std::move(one.command), std::move(one.cores), one.output}, of, job.living});
    }
    carrier_.start(all, job.nodes);
  }
  void end(node_t node, std::chrono::milliseconds timeout) override { carrier_.end(node, timeout); }

 private:
  cuda::host_transport& carrier_;
};

class cuda_emulated_transport final : public starting_factory {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "cuda-emulated"; }
  [[nodiscard]] help_line help() const noexcept override {
    return {"cuda-emulated[:COUNT][/KEY=VALUE...][@CORE[+CORE...]]",
            "a GPU that threads emulate; keys are blocks, warps, lanes, read, write, linger, watchdog"};
  }
  [[nodiscard]] target_group parse(group_text& text) const override {
    target_group group(*this, text.take_count());
    const std::string_view settings = text.take_settings();
    group.cores = text.take_cores();
    text.expect_end();
    group.settings = std::make_shared<const cuda::group_geometry>(cuda::parse_geometry(settings));
    return group;
  }
  [[nodiscard]] availability probe() const override { return shared_memory_here(); }
  [[nodiscard]] std::string trial() const override { return "cuda-emulated:1"; }

  [[nodiscard]] bool starts_own_program() const noexcept override { return true; }
  [[nodiscard]] bool redirects_output() const noexcept override { return true; }
  [[nodiscard]] host_parts make_host(node_t self, base::heap& memory, observer& to) const override {
    auto carrier = std::make_unique<cuda::host_transport>(std::string(name()), self, memory.fd(), to);
    auto side = std::make_unique<cuda_host>(*carrier);
    return {std::move(carrier), std::move(side)};
  }
  [[nodiscard]] std::unique_ptr<target_side> make_target(std::string_view told) const override {
    auto from = cuda::invitation::accept(control_fd_of(told));
    const node_t self = from.said.node;
    const node_t host = from.said.host;
    const std::size_t nodes = from.said.nodes;
    return std::make_unique<invited_target<cuda::target_transport, cuda::invitation>>(std::move(from), self, host,
                                                                                      nodes);
  }
};

}  // namespace

const factory& cuda_emulated_factory() {
  static const cuda_emulated_transport one;
  return one;
}

}  // namespace ham::transport
