// What is said of frames that cannot be decoded.
#include "core/frame_header.hpp"

#include <string>

namespace ham::inline v1::detail {

void frame_header::throw_unknown(std::uint8_t kind) {
  throw protocol_error("a frame of unknown kind " + std::to_string(kind));
}

}  // namespace ham::detail
