// Joining a job over a ring in the host's memory.
#include "transport/vedma/target_transport.hpp"

#include <memory>

#include "transport/common/one_sided_endpoint.hpp"
#ifdef __ve__
#include "transport/vedma/engine_access.hpp"
#else
#include "transport/vedma/attached_access.hpp"
#endif

namespace ham::inline v1::transport::vedma {
namespace {

#ifdef __ve__
using access = engine_access;
#else
using access = attached_access;
#endif

}  // namespace

void target_transport::join() {
  const veo::welcome& told = said();
  adopt(std::make_unique<one_sided_endpoint<access>>(told.host, told.terms(veo::target_side), told.ring,
                                                     told.layout.bytes()));
}

}  // namespace ham::transport::vedma
