// Memory for pinned<T>: a part of the node's heap, which targets on this machine have mapped.
#include "ham/offload/pinned.hpp"

#include "runtime/engine.hpp"

namespace ham::inline v1::offload {

std::shared_ptr<std::byte> detail::allocate_pinned(std::size_t bytes) {
  return ham::detail::current().memory.pinned().allocate(bytes);
}

}  // namespace ham::offload
