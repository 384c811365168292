// cuda in HAM_NODES: cuda[:COUNT][/KEY=VALUE]...[@GPUS]. The driver is in a module, which target processes load.
#include <algorithm>
#include <vector>

#include "transport/common/joining.hpp"
#include "transport/cuda/device_factory.hpp"
#include "transport/cuda/driver_module.hpp"
#include "transport/cuda/settings.hpp"

namespace ham::inline v1::transport {
namespace {

class cuda_transport final : public cuda::device_factory {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "cuda"; }
  [[nodiscard]] std::string_view example() const noexcept override { return "cuda:2 or cuda@0+1"; }
  [[nodiscard]] help_line help() const noexcept override {
    return {"cuda[:COUNT][/KEY=VALUE...][@GPU[+GPU...]]",
            "GPUs of NVIDIA's, by number; keys are blocks, threads, linger, watchdog, arena"};
  }
  /// Without a count: one target for each GPU that is listed.
  [[nodiscard]] target_group parse(group_text& text) const override {
    const bool counted = text.rest().starts_with(':');
    target_group group(*this, text.take_count());
    const std::string_view settings = text.take_settings();
    std::vector<int> gpus = text.take_cores();
    text.expect_end();
    if (!counted) group.count = std::max<std::size_t>(1, gpus.size());
    group.settings = std::make_shared<const cuda::group_geometry>(cuda::parse_gpu_geometry(settings), std::move(gpus));
    return group;
  }
  [[nodiscard]] availability probe() const override {
    return found_by([]() -> availability {
      const availability memory = shared_memory_here();
      return memory.available ? cuda::load_driver_module().probe() : memory;
    });
  }
  [[nodiscard]] std::string trial() const override { return "cuda:1"; }
};

}  // namespace

const factory& cuda_factory() {
  static const cuda_transport one;
  return one;
}

}  // namespace ham::transport
