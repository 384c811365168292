// Joining a job over a ring in this memory.
#include "transport/veo/target_transport.hpp"

#include <memory>

#include "transport/common/local_access.hpp"
#include "transport/common/one_sided_endpoint.hpp"

namespace ham::inline v1::transport::veo {

void target_transport::join() {
  if (said().ring == 0 || said().ring % one_sided_layout::line != 0) {
    throw config_error("ham_main was called without a ring; build host and target from the same release of HAM");
  }
  auto* const ring = reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(said().ring));
  adopt(std::make_unique<one_sided_endpoint<local_access>>(said().host, said().terms(target_side), ring));
}

}  // namespace ham::transport::veo
