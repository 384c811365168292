// The peer of the conformance suite as a library that VEO loads: a ham_main that obeys frames.
#include <memory>

#include "conformance/subject.hpp"
#include "transport/vedma/target_transport.hpp"
#include "transport/veo/target_transport.hpp"

namespace ham::inline v1::transport {
namespace {

std::unique_ptr<veo::veo_target> make(veo::welcome& said, observer& to) {
  if (said.place == veo::ring_place::host_segment) return std::make_unique<vedma::target_transport>(said, to);
  return std::make_unique<veo::target_transport>(said, to);
}

}  // namespace
}  // namespace ham::transport

extern "C" std::uint64_t ham_main(std::uint64_t address) {
  auto& said = *reinterpret_cast<ham::transport::veo::welcome*>(address);
  if (!said.sane()) return 1;
  ham::base::heap memory(ham::base::heap::make_file());
  said.heap = memory.address();
  ham::transport::conformance::recorder news;
  const auto at = ham::transport::make(said, news);
  at->join();
  ham::transport::conformance::obey(*at, memory, [&] { return !news.lost(said.host).empty(); });
  return 0;
}
