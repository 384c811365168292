// Ranges in memory of nodes: what is outside of them, and where they are.
#include <string>

#include "ham/device/place.hpp"
#include "ham/offload/buffer_span.hpp"
#include "runtime/engine.hpp"

namespace ham::inline v1::offload::detail {

void throw_outside(std::size_t offset, std::size_t count, std::size_t size) {
  const std::string what = count == SIZE_MAX
                               ? "the elements from " + std::to_string(offset) + " on"
                               : std::to_string(count) + " elements from " + std::to_string(offset) + " on";
  throw buffer_error(what + " are outside of a range of " + std::to_string(size) + "; check offset and count");
}

void throw_too_short(const char* verb, std::size_t count, std::size_t size) {
  throw buffer_error(std::string(verb) + " of " + std::to_string(count) + " elements: the memory on the node has " +
                     std::to_string(size) + "; transfer fewer, or take a larger buffer");
}

bool is_here(node_t node) noexcept {
  const ham::detail::engine* const at = ham::detail::current_or_null();
  if (at == nullptr || at->self() != node) return false;
  return at->memory.device() == nullptr || device::detail::this_lane() != nullptr;
}

void throw_not_here(node_t node) {
  const ham::detail::engine* const at = ham::detail::current_or_null();
  if (at != nullptr && at->self() == node) {
    throw buffer_error("memory of node " + std::to_string(node) +
                       " lies on its device, where ordinary functions do not reach it; have a device function work on "
                       "it, or get it");
  }
  throw buffer_error("memory of node " + std::to_string(node) +
                     " cannot be read or written as memory of this process; call a function on that node, or get it");
}

void throw_other_runtime(node_t node) {
  throw buffer_error("memory of node " + std::to_string(node) +
                     " of one runtime cannot be reached by another one; name the runtime that the buffer was made "
                     "under, or none");
}

}  // namespace ham::offload::detail
