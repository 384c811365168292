#include "runtime/local_memory.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "ham/msg/translation.hpp"
#include "runtime/device_heap.hpp"
#include "runtime/memory_access.hpp"

namespace ham::inline v1::offload::detail {
namespace {

/// Copies through the kernel, which answers a bad address with an error instead of a signal and moves less than 2
/// GiB at once.
void access_untracked(engine& at, raw_buffer what, void* local, std::size_t bytes, bool write) {
  constexpr std::size_t max_bytes = std::size_t{1} << 30;
  const ham::detail::device_heap* const device = at.memory.device();
  if (device != nullptr && device->contains(what.address))
    refuse("it is memory of the device, which is reached by the buffers of offload::allocate only", at.self(), what,
           bytes);
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t piece = std::min(max_bytes, bytes - done);
    const iovec mine{static_cast<std::byte*>(local) + done, piece};
    const iovec other{reinterpret_cast<void*>(static_cast<std::uintptr_t>(what.address + done)), piece};
    const ssize_t moved = write ? ::process_vm_writev(::getpid(), &mine, 1, &other, 1, 0)
                                : ::process_vm_readv(::getpid(), &mine, 1, &other, 1, 0);
    if (moved < 0 && (errno == ENOSYS || errno == EPERM)) {
      refuse(
          "memory that was not allocated with offload::allocate is checked by process_vm_readv and process_vm_writev; "
          "allow them, which a filter forbids (seccomp, as of a container or a service)",
          at.self(), what, bytes);
    }
    if (moved != static_cast<ssize_t>(piece)) refuse("no such memory in that process", at.self(), what, bytes);
    done += piece;
  }
}

}  // namespace

void check_local(engine& at, raw_buffer what, std::size_t bytes) {
  switch (at.memory.check(what.address, what.tag, bytes)) {
    case base::heap_check::valid: return;
    case base::heap_check::stale: refuse(transport::access_result::stale, at.self(), what, bytes);
    case base::heap_check::out_of_range: refuse(transport::access_result::out_of_range, at.self(), what, bytes);
  }
}

void store_checked(engine& at, raw_buffer to, const void* from, std::size_t bytes) {
  if (to.tag == 0)
    access_untracked(at, to, const_cast<void*>(from), bytes, true);
  else if (ham::detail::device_heap* const device = at.memory.device(); device != nullptr)
    device->store_now({to.address}, static_cast<const std::byte*>(from), bytes);
  else
    std::memmove(pointer_to(to), from, bytes);
}

void load_checked(engine& at, raw_buffer from, void* to, std::size_t bytes) {
  if (from.tag == 0)
    access_untracked(at, from, to, bytes, false);
  else if (ham::detail::device_heap* const device = at.memory.device(); device != nullptr)
    device->load_now({from.address}, static_cast<std::byte*>(to), bytes);
  else
    std::memmove(to, pointer_to(from), bytes);
}

void store_local(engine& at, raw_buffer to, const void* from, std::size_t bytes) {
  if (to.tag != 0) check_local(at, to, bytes);
  store_checked(at, to, from, bytes);
}

void load_local(engine& at, raw_buffer from, void* to, std::size_t bytes) {
  if (from.tag != 0) check_local(at, from, bytes);
  load_checked(at, from, to, bytes);
}

// ---- nodes of other data layout

std::uint32_t swap_width(engine& at, node_t node, const element& of, const ham::detail::wait_limit& limit) {
  return swap_width(at, *at.peer_of(node, limit), of);
}

std::uint32_t swap_width(const engine& at, const ham::detail::peer& who, const element& of) {
  const msg::translation* const other = who.translation.get();
  if (other == nullptr || other->same_structs()) return 0;
  if (other->same_byte_order() ? of.known : of.number_bytes != 0) {
    return other->same_byte_order() || of.number_bytes == 1 ? 0 : of.number_bytes;
  }
  throw buffer_error("elements of this type cannot be copied between node " + std::to_string(at.self()) + " and node " +
                     std::to_string(who.node) +
                     " (they are copied as bytes, and the two nodes lay them out differently); use buffers of numbers, "
                     "or send them as arguments, with HAM_FIELDS");
}

void swap_bytes(std::byte* numbers, std::size_t bytes, std::uint32_t number_bytes) noexcept {
  if (number_bytes == 0) return;
  for (std::size_t at = 0; at + number_bytes <= bytes; at += number_bytes) {
    std::reverse(numbers + at, numbers + at + number_bytes);
  }
}

}  // namespace ham::offload::detail
