// A ring in a Vector Engine's memory.
#include "transport/veo/host_transport.hpp"

#include <chrono>
#include <vector>

#include "transport/common/one_sided_endpoint.hpp"
#include "transport/veo/access.hpp"

namespace ham::inline v1::transport::veo {

// A look takes up to 100 us of this core and of VEOS.
host_transport::host_transport(node_t self, observer& to)
    : veo_host(self, to, {std::chrono::microseconds(100), std::chrono::milliseconds(10)}) {}

std::unique_ptr<polled_endpoint> host_transport::make_ring(const engine_process& process, welcome& said) {
  said.place = ring_place::engine_memory;
  said.ring = allocate(process, said.layout.bytes());
  std::vector<std::uint64_t> words(said.layout.word_bytes() / sizeof(std::uint64_t));
  initialise(said.layout, [&](std::uint64_t at, std::uint64_t word) { words[at / sizeof word] = word; });
  write(process, said.ring, words.data(), said.layout.word_bytes());
  return std::make_unique<one_sided_endpoint<veo_access>>(said.node, said.terms(host_side), veo_, process.handle,
                                                          said.ring, process.reach);
}

}  // namespace ham::transport::veo
