// The transport as part of a program: registers itself before main.
#include "transport/network.hpp"

extern "C" ham::transport::network_module* ham_network_module(std::uint32_t version);

namespace {

[[maybe_unused]] const bool registered = [] {
  ham::transport::add_network_module(*ham_network_module(ham::transport::module_interface));
  return true;
}();

}  // namespace

/// What the linker is told to look for, so that it takes this file out of its archive.
extern "C" {
extern const char ham_tcp_static;
const char ham_tcp_static = 1;
}
