// Memory of nodes for programs in C: ham_buffer is a buffer_ptr of bytes with its length.
#include "c_api/memory.hpp"

#include <string>

#include "c_api/future.hpp"
#include "c_api/status.hpp"
#include "ham/error.hpp"
#include "ham/ham.h"
#include "ham/offload/memory.hpp"
#include "ham/offload/node.hpp"

namespace ham::inline v1::c_api {

offload::buffer_ptr<std::byte> part(const ham_buffer* buffer, std::size_t offset, std::size_t size) {
  require(buffer, "the buffer");
  if (offset > buffer->size || size > buffer->size - offset) {
    throw buffer_error(std::to_string(size) + " bytes from " + std::to_string(offset) +
                       " on are outside of a buffer of " + std::to_string(buffer->size));
  }
  return offload::detail::buffer_ptr_access::make<std::byte>(buffer->address, buffer->tag, buffer->node) + offset;
}

namespace {

offload::future<void> start_put(const void* from, const ham_buffer* to, std::size_t offset, std::size_t size) {
  const auto target = part(to, offset, size);
  if (size != 0) require(from, "the source");
  return offload::put(static_cast<const std::byte*>(from), target, size);
}

offload::future<void> start_get(const ham_buffer* from, std::size_t offset, void* to, std::size_t size) {
  const auto source = part(from, offset, size);
  if (size != 0) require(to, "the target");
  return offload::get(source, static_cast<std::byte*>(to), size);
}

offload::future<void> start_copy(const ham_buffer* from, std::size_t from_offset, const ham_buffer* to,
                                 std::size_t to_offset, std::size_t size) {
  return offload::copy(part(from, from_offset, size), part(to, to_offset, size), size);
}

/// Waits for what `start` starts.
template <class Start>
int complete(Start start) {
  return guarded([&] {
    start().get();
    return HAM_OK;
  });
}

/// Hands what `start` starts to the caller.
template <class Start>
int begin(ham_future** future, Start start) {
  return guarded([&] {
    require(future, "the place of the future");
    *future = nullptr;
    *future = new ham_future(start());
    return HAM_OK;
  });
}

}  // namespace
}  // namespace ham::c_api

int ham_allocate(ham_node node, size_t size, ham_buffer* buffer) {
  return ham::c_api::guarded([&] {
    ham::c_api::require(buffer, "the place of the buffer");
    *buffer = {0, 0, 0, -1};
    const auto got = ham::offload::allocate<std::byte>(node, size);
    *buffer = {got.address(), got.tag(), size, got.node()};
    return HAM_OK;
  });
}

int ham_free(const ham_buffer* buffer) {
  return ham::c_api::guarded([&] {
    ham::offload::free(ham::c_api::part(buffer, 0, 0));
    return HAM_OK;
  });
}

int ham_local(const ham_buffer* buffer, void** address) {
  return ham::c_api::guarded([&] {
    ham::c_api::require(address, "the place of the address");
    *address = nullptr;
    *address = ham::offload::buffer_span(ham::c_api::part(buffer, 0, 0), static_cast<std::size_t>(buffer->size))
                   .local()
                   .data();
    return HAM_OK;
  });
}

int ham_put(const void* from, const ham_buffer* to, size_t offset, size_t size) {
  return ham::c_api::complete([&] { return ham::c_api::start_put(from, to, offset, size); });
}
int ham_get(const ham_buffer* from, size_t offset, void* to, size_t size) {
  return ham::c_api::complete([&] { return ham::c_api::start_get(from, offset, to, size); });
}
int ham_copy(const ham_buffer* from, size_t from_offset, const ham_buffer* to, size_t to_offset, size_t size) {
  return ham::c_api::complete([&] { return ham::c_api::start_copy(from, from_offset, to, to_offset, size); });
}
int ham_put_async(const void* from, const ham_buffer* to, size_t offset, size_t size, ham_future** future) {
  return ham::c_api::begin(future, [&] { return ham::c_api::start_put(from, to, offset, size); });
}
int ham_get_async(const ham_buffer* from, size_t offset, void* to, size_t size, ham_future** future) {
  return ham::c_api::begin(future, [&] { return ham::c_api::start_get(from, offset, to, size); });
}
int ham_copy_async(const ham_buffer* from, size_t from_offset, const ham_buffer* to, size_t to_offset, size_t size,
                   ham_future** future) {
  return ham::c_api::begin(future, [&] { return ham::c_api::start_copy(from, from_offset, to, to_offset, size); });
}
