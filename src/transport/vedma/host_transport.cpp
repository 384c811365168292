// A ring in a SysV segment of this host.
#include "transport/vedma/host_transport.hpp"

#include <memory>

#include "transport/common/local_access.hpp"
#include "transport/common/one_sided_endpoint.hpp"

namespace ham::inline v1::transport::vedma {

std::unique_ptr<polled_endpoint> host_transport::make_ring(const veo::engine_process&, veo::welcome& said) {
  const auto made = std::make_shared<segment>(segment::make(said.layout.bytes()));
  said.place = veo::ring_place::host_segment;
  said.ring = made->id();
  local_access memory(made->memory());
  initialise(said.layout, [&](std::uint64_t at, std::uint64_t word) { memory.write_word(at, word); });
  auto one = std::make_unique<one_sided_endpoint<local_access>>(said.node, said.terms(veo::host_side), made->memory());
  one->keep(made);
  return one;
}

}  // namespace ham::transport::vedma
