// The list of transports. A new one is one line here.
#include "compose/transports.hpp"

#include <algorithm>
#include <array>

#include "transport/launched_factory.hpp"

#ifndef HAM_EXTRA_TRANSPORTS
#define HAM_EXTRA_TRANSPORTS(one)  // of folders elsewhere: the build's HAM_EXTRA_TRANSPORTS (src/CMakeLists.txt)
#endif

// NAME stands for NAME_factory(), which the transport's folder defines. The first comes first in help and tools.
#define HAM_TRANSPORTS(one)                                                                                           \
  one(shm) one(exec) one(tcp) one(mpi) one(mpi_parent) one(emulated) one(veo) one(vedma) one(cuda) one(cuda_emulated) \
      one(loopback) HAM_EXTRA_TRANSPORTS(one)

namespace ham::inline v1::transport {

#define HAM_DECLARE(name) const factory& name##_factory();
HAM_TRANSPORTS(HAM_DECLARE)
#undef HAM_DECLARE

}  // namespace ham::transport

namespace ham::inline v1::detail {

std::span<const transport::factory* const> transports() {
#define HAM_LIST(name) &transport::name##_factory(),
  static const std::array all{HAM_TRANSPORTS(HAM_LIST)};
#undef HAM_LIST
  return all;
}

const transport::factory* find_transport(std::string_view name) {
  const auto found = std::ranges::find(transports(), name, &transport::factory::name);
  return found == transports().end() ? nullptr : *found;
}

namespace {

/// What every library has at least one of.
template <class Is>
const transport::factory& first(Is is) {
  return **std::ranges::find_if(transports(), is);
}

}  // namespace

const transport::factory& program_starter() {
  return first([](const transport::factory* one) { return one->as_starting() != nullptr && one->starts_programs(); });
}

const transport::network_factory& network_transport() {
  return *first([](const transport::factory* one) { return one->as_network() != nullptr; }).as_network();
}

const transport::launched_factory& launched_transport() {
  return *first([](const transport::factory* one) { return one->as_launched() != nullptr; }).as_launched();
}

}  // namespace ham::detail
