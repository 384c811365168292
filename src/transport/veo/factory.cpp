// veo in HAM_NODES: veo[:COUNT].
#include "transport/common/veo_factory.hpp"
#include "transport/veo/host_transport.hpp"
#include "transport/veo/target_transport.hpp"

namespace ham::inline v1::transport {
namespace {

class veo_transport final : public veo::veo_factory {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "veo"; }
  [[nodiscard]] help_line help() const noexcept override {
    return {"veo[:COUNT]", "targets on Vector Engines; the host makes the transfers"};
  }
  [[nodiscard]] host_parts make_host(node_t self, base::heap&, observer& to) const override {
    return veo::make_veo_host<veo::host_transport>(self, to);
  }
  [[nodiscard]] company reaches() const noexcept override { return company::nobody; }
  [[nodiscard]] std::unique_ptr<target_side> make_called_target(std::uint64_t address) const override {
    veo::welcome& said = veo::welcome_at(address);
    if (said.place != veo::ring_place::engine_memory) return nullptr;
    return std::make_unique<veo::veo_target_side<veo::target_transport>>(said);
  }
};

}  // namespace

const factory& veo_factory() {
  static const veo_transport one;
  return one;
}

}  // namespace ham::transport
