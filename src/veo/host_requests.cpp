// Hands requests of helpers to the host of this process.
#include "host_requests.hpp"

namespace ham::inline v1::veo {
namespace {

host_side& host() {
  if (this_host() == nullptr)
    throw call_error("this process does not use libveo; functions of the host are called there");
  return *this_host();
}

/// A host calls none of them itself.
[[maybe_unused]] const bool offered_by_host = offload::offer(open_line_request) && offload::offer(close_line_request) &&
                                              offload::offer(install_request) && offload::offer(uninstall_request) &&
                                              offload::offer(find_request) && offload::offer(invoke_request) &&
                                              offload::offer(host_call_request);

}  // namespace

host_side*& this_host() noexcept {
  static host_side* one = nullptr;
  return one;
}

namespace host_request {

line_answer open(node_t helper, context_number caller, context_number back) {
  return host().open({helper, caller, back});
}
void close(node_t helper, context_number at_host) { host().close(helper, at_host); }
host_answer install(node_t helper, std::string_view path) { return host().install(helper, path); }
host_answer uninstall(node_t helper, std::uint64_t library) { return host().uninstall(helper, library); }
host_answer find(node_t helper, std::uint64_t library, std::string_view name) {
  return host().find(helper, library, name);
}
host_answer invoke(node_t helper, std::uint64_t function, std::span<const std::byte> in, std::uint64_t out_bytes) {
  return host().invoke(helper, function, in, out_bytes);
}
host_answer call(node_t helper, std::uint64_t function, std::span<const std::byte> arguments) {
  return host().call(helper, function, arguments);
}

}  // namespace host_request
}  // namespace ham::veo
