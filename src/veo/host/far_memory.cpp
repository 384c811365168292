// Pieces of a megabyte.
#include "far_memory.hpp"

#include <algorithm>

#include "send.hpp"
#include "ve_offload.h"

namespace ham::inline v1::veo {
namespace {
constexpr std::size_t piece_bytes = std::size_t{1} << 20;
}  // namespace

bool copy_far(const asking& ask, direction where, std::uint64_t remote, void* local, std::size_t bytes) {
  auto* const here = static_cast<std::byte*>(local);
  std::size_t done = 0;
  do {
    const std::size_t piece = std::min(piece_bytes, bytes - done);
    local_result result;
    if (where == direction::to_helper) {
      const std::byte* const from = here + done;
      result = ask(sending(store_request, remote + done, std::vector<std::byte>(from, from + piece)), {});
    } else {
      auto out = std::make_unique<std::vector<delivery>>(1, delivery{here + done, piece});
      result = ask(sending(load_request, remote + done, static_cast<std::uint64_t>(piece)), std::move(out));
    }
    if (result.state != VEO_COMMAND_OK) return false;
    done += piece;
  } while (done < bytes);
  return true;
}

}  // namespace ham::veo
