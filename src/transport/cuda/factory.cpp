// cuda-emulated in HAM_NODES: cuda-emulated[:COUNT][/KEY=VALUE]...[@CORES].
#include "transport/common/joining.hpp"
#include "transport/cuda/device_factory.hpp"
#include "transport/cuda/settings.hpp"

namespace ham::inline v1::transport {
namespace {

class cuda_emulated_transport final : public cuda::device_factory {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "cuda-emulated"; }
  [[nodiscard]] help_line help() const noexcept override {
    return {"cuda-emulated[:COUNT][/KEY=VALUE...][@CORE[+CORE...]]",
            "a GPU that threads emulate; keys are blocks, warps, lanes, read, write, linger, watchdog, memory, arena, "
            "bandwidth"};
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
};

}  // namespace

const factory& cuda_emulated_factory() {
  static const cuda_emulated_transport one;
  return one;
}

}  // namespace ham::transport
