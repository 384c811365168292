// vedma in HAM_NODES: vedma[:COUNT].
#include "transport/common/veo_factory.hpp"
#include "transport/vedma/host_transport.hpp"
#include "transport/vedma/target_transport.hpp"

namespace ham::inline v1::transport {
namespace {

class vedma_transport final : public veo::veo_factory {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "vedma"; }
  [[nodiscard]] help_line help() const noexcept override {
    return {"vedma[:COUNT]", "targets on Vector Engines; they make the transfers by user DMA"};
  }
  [[nodiscard]] host_parts make_host(node_t self, base::heap&, observer& to) const override {
    return veo::make_veo_host<vedma::host_transport>(self, to);
  }
  [[nodiscard]] company reaches() const noexcept override { return company::nobody; }
  [[nodiscard]] std::unique_ptr<target_side> make_called_target(std::uint64_t address) const override {
    veo::welcome& said = veo::welcome_at(address);
    if (said.place != veo::ring_place::host_segment) return nullptr;
    return std::make_unique<veo::veo_target_side<vedma::target_transport>>(said);
  }
};

}  // namespace

const factory& vedma_factory() {
  static const vedma_transport one;
  return one;
}

}  // namespace ham::transport
