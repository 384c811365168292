// tcp in HAM_NODES: tcp://HOST:PORT[*COUNT]. Part of the library; the rest of this folder is the module that it loads.
#include "base/settings.hpp"
#include "transport/common/network_modules.hpp"
#include "transport/network_factory.hpp"

namespace ham::inline v1::transport {
namespace {

class tcp_transport final : public network_factory {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "tcp"; }
  [[nodiscard]] std::string_view prefix() const noexcept override { return "tcp://"; }
  [[nodiscard]] std::string_view example() const noexcept override { return "tcp://host:7000"; }
  [[nodiscard]] help_line help() const noexcept override {
    return {"tcp://HOST:PORT[*COUNT][/each:GROUP]",
            "programs that wait there for hosts (--ham-serve); with targets of their own"};
  }
  [[nodiscard]] target_group parse(group_text& text) const override {
    target_group group(*this);
    const std::string_view address = text.rest().substr(0, text.rest().find('*'));
    const auto at = network_address::parse(address);
    if (!at) text.refuse("an address like host:7000, 10.0.0.7:7000 or [fe80::7]:7000 must follow tcp://");
    text.skip(address.size());
    group.count = text.take_times();
    text.expect_end();
    group.settings = std::make_shared<const network_group>(*at);
    return group;
  }
  [[nodiscard]] network_module& module() const override { return load_network_module("tcp"); }
  [[nodiscard]] availability probe() const override {
    return found_by([this]() -> availability {
      const network_module& loaded = module();
      const std::string why = loaded.why_insecure();
      const bool openssl = base::number_of(base::setting::tcp_records) == 1;
      return {true, why.empty() ? why : "without keys and encryption: " + why,
              loaded.secured_by(openssl ? tls_records::openssl : tls_records::ham)};
    });
  }
};

}  // namespace

const factory& tcp_factory() {
  static const tcp_transport one;
  return one;
}

}  // namespace ham::transport
