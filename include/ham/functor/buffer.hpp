// Functors of the published HAM-Offload that allocate and free memory on the node that executes them.
#pragma once

#include <cstddef>

#include "ham/offload/buffer_ptr.hpp"
#include "ham/offload/memory.hpp"
#include "ham/offload/node.hpp"

namespace ham::inline v1 {

/// sync(node, new_buffer<T>(n)) allocates n elements on `node`, as offload::allocate<T>(node, n) does; they are not
/// constructed. Throws std::bad_alloc if the node has not that much.
template <class Element>
class new_buffer {
 public:
  using result_type = offload::buffer_ptr<Element>;  ///< what sync() gives

  /// Of `count` elements.
  explicit new_buffer(std::size_t count = 0) noexcept : count_(count) {}
  /// Allocates on the node that calls it.
  result_type operator()() const { return offload::allocate<Element>(offload::this_node(), count_); }

  HAM_FIELDS(count_)

 private:
  std::size_t count_;
};

/// sync(node, delete_buffer<T>(ptr)) frees on `node` what was allocated there, as offload::free(ptr) does. The pointer
/// is a buffer_ptr, or an address in the memory of the node that executes this. Throws ham::buffer_error if it is not
/// the start of a live allocation of that node.
template <class Element>
class delete_buffer {
 public:
  using result_type = void;  ///< what sync() gives

  delete_buffer() noexcept = default;
  /// Of memory that new_buffer or offload::allocate has given; an address is one of the node that calls it.
  explicit delete_buffer(offload::buffer_ptr<Element> what) noexcept : what_(what) {}
  explicit delete_buffer(Element* address) noexcept : what_(address, -1) {}
  /// Frees it; called on the node that has it.
  void operator()() const {
    offload::free(what_.node() < 0 ? offload::buffer_ptr<Element>(what_.get(), offload::this_node()) : what_);
  }

  HAM_FIELDS(what_)

 private:
  offload::buffer_ptr<Element> what_;
};

}  // namespace ham
