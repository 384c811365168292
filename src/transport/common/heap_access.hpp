// What a check of an address in a heap means to who asked for the access.
#pragma once

#include "base/heap.hpp"
#include "transport/transport.hpp"

namespace ham::inline v1::transport {

[[nodiscard]] constexpr access_result to_access_result(base::heap_check why) noexcept {
  switch (why) {
    case base::heap_check::valid: return access_result::done;
    case base::heap_check::stale: return access_result::stale;
    case base::heap_check::out_of_range: break;
  }
  return access_result::out_of_range;
}

}  // namespace ham::transport
