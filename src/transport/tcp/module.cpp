// The entry point of the module: the one function that the library resolves in it.

#include "base/log.hpp"
#include "transport/tcp/listener.hpp"
#include "transport/tcp/network.hpp"

namespace ham::inline v1::transport::tcp {
namespace {

void warn_of_exposure(const std::string& address) {
  base::log("tcp", base::log_level::warning,
            "tcp: WARNING: %s is open to the network without key and encryption, as was forced: whoever can "
            "connect can run any function of this program",
            address.c_str());
}

bool is_exposed(const std::string& address) {
  std::string why;
  for (const socket_address& one : resolve(parse_address(address), true, why)) {
    if (!one.is_loopback()) return true;
  }
  return false;
}

class tcp_module final : public network_module {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "tcp"; }
  [[nodiscard]] std::string why_insecure() const override { return why_no_tls(); }
  [[nodiscard]] std::string secured_by(tls_records records) const override { return tls_libraries(records); }

  [[nodiscard]] std::unique_ptr<network> open(const network_options& options, base::heap* memory,
                                              observer& to) override {
    auto made = std::make_unique<tcp_network>(options, id_of(options.job_key, options.secure), memory, to);
    if (!options.secure && is_exposed(made->address())) warn_of_exposure(made->address());
    return made;
  }

  [[nodiscard]] std::unique_ptr<listener> listen(const listen_options& options) override {
    auto made = std::make_unique<tcp_listener>(options);
    if (!options.key && is_exposed(made->address())) warn_of_exposure(made->address());
    return made;
  }
};

}  // namespace
}  // namespace ham::transport::tcp

extern "C" [[gnu::visibility("default")]] ham::transport::network_module* ham_network_module(std::uint32_t version) {
  static ham::transport::tcp::tcp_module module;
  return version == ham::transport::module_interface ? &module : nullptr;
}
