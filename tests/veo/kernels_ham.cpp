// A kernel that contains HAM and has a job of its own.
#include <ham/offload.hpp>

#include <cstdint>
#include <exception>

namespace {

std::uint64_t tripled(std::uint64_t n) { return 3 * n; }

}  // namespace

/// 0: something was thrown.
extern "C" std::uint64_t ham_inside(std::uint64_t n) {
  try {
    ham::runtime_options options;
    options.nodes = "loopback:1";
    const ham::runtime own(options);
    if (ham::offload::num_nodes() != 2) return 1;
    return ham::offload::sync(1, ham::fn<&tripled>, n);
  } catch (const std::exception&) {
    return 0;
  }
}
