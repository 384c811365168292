// Memory of helpers, with and without a tag.
#include <cstdlib>
#include <cstring>

#include "../tagged_pointers.hpp"
#include "guard.hpp"
#include "hooks.hpp"
#include "registry.hpp"
#include "send.hpp"
#include "ve_offload.h"

using namespace ham::veo;

namespace {

constexpr std::size_t small_transfer = 4096;                    // travels in its request
constexpr std::size_t quick_transfer = std::size_t{256} << 10;  // sooner done than handed to another thread

proc* owner_of(const void* pointer) {
  return is_tagged(pointer) ? registry::of_this_process().with_identifier(identifier_in(pointer)) : nullptr;
}

local_result allocate_in(veo_thr_ctxt& in, std::size_t bytes) {
  return in.exchange(sending(allocate_request, static_cast<std::uint64_t>(bytes)));
}

local_result release_in(veo_thr_ctxt& in, std::uint64_t address) {
  return in.exchange(sending(release_request, address));
}

int transfer(veo_proc_handle* handle, direction where, std::uint64_t remote, void* local, std::size_t bytes) {
  proc* const of = live(handle);
  if (of == nullptr) return -1;
  return guarded(-1, [&] { return of->transfer(of->main(), where, remote, local, bytes) ? 0 : -1; });
}

/// A transfer that the pump sees to in its turn, unless it can be done at once.
std::uint64_t transfer_in_turn(veo_thr_ctxt& in, direction where, std::uint64_t remote, void* local,
                               std::size_t bytes) {
  if (bytes <= quick_transfer && in.of().near()) {
    const auto copy = [&] { return copy_near(in.of().pid(), where, remote, local, bytes); };
    if (const auto id = in.submit_at_once(copy)) return *id;
  }
  return in.submit_local([&in, where, remote, local, bytes]() -> local_result {
    const bool done = in.of().transfer(in, where, remote, local, bytes);
    return {static_cast<std::uint8_t>(done ? VEO_COMMAND_OK : VEO_COMMAND_ERROR), 0};
  });
}

}  // namespace

extern "C" {

int veo_alloc_mem(struct veo_proc_handle* handle, uint64_t* addr, const size_t size) {
  proc* const of = live(handle);
  if (of == nullptr || addr == nullptr) return fail(EINVAL, -1);
  *addr = 0;
  const local_result got = guarded(local_result{VEO_COMMAND_ERROR, 0}, [&] { return allocate_in(of->main(), size); });
  if (got.state != VEO_COMMAND_OK || got.value == 0) return fail(ENOMEM, -1);
  *addr = got.value;
  if (const hook told = hook_of(&veo_alloc_mem)) told.function(told.payload, handle, addr, size);
  return 0;
}

int veo_free_mem(struct veo_proc_handle* handle, uint64_t addr) {
  proc* const of = live(handle);
  if (of == nullptr) return -1;
  const local_result got = guarded(local_result{VEO_COMMAND_ERROR, 0}, [&] { return release_in(of->main(), addr); });
  if (got.state != VEO_COMMAND_OK) return of->dead() ? 0 : -1;
  if (const hook told = hook_of(&veo_free_mem)) told.function(told.payload, handle, addr);
  return 0;
}

int veo_read_mem(struct veo_proc_handle* handle, void* dst, uint64_t src, size_t size) {
  return transfer(handle, direction::from_helper, src, dst, size);
}

int veo_write_mem(struct veo_proc_handle* handle, uint64_t dst, const void* src, size_t size) {
  return transfer(handle, direction::to_helper, dst, const_cast<void*>(src), size);
}

uint64_t veo_alloc_mem_async(struct veo_thr_ctxt* ctx, const size_t size) {
  if (live(ctx) == nullptr) return VEO_REQUEST_ID_INVALID;
  return guarded(no_request, [&] {
    const auto send = sending(allocate_request, static_cast<std::uint64_t>(size));
    const hook told = hook_of(&veo_alloc_mem_async);
    if (!told) return ctx->submit(send, [&] { return send; });
    return ctx->submit_local([=] {
      const local_result got = allocate_in(*ctx, size);
      if (got.state == VEO_COMMAND_OK) told.function(told.payload, ctx, got.value, size);
      return got;
    });
  });
}

uint64_t veo_free_mem_async(struct veo_thr_ctxt* ctx, uint64_t addr) {
  if (live(ctx) == nullptr) return VEO_REQUEST_ID_INVALID;
  return guarded(no_request, [&] {
    const auto send = sending(release_request, addr);
    const hook told = hook_of(&veo_free_mem_async);
    if (!told) return ctx->submit(send, [&] { return send; });
    return ctx->submit_local([=] {
      const local_result got = release_in(*ctx, addr);
      if (got.state == VEO_COMMAND_OK) told.function(told.payload, ctx, addr);
      return got;
    });
  });
}

uint64_t veo_async_read_mem(struct veo_thr_ctxt* ctx, void* dst, uint64_t src, size_t size) {
  if (live(ctx) == nullptr) return VEO_REQUEST_ID_INVALID;
  return guarded(no_request, [&] {
    if (size > small_transfer) return transfer_in_turn(*ctx, direction::from_helper, src, dst, size);
    const auto send = sending(load_request, src, static_cast<std::uint64_t>(size));
    auto out = std::make_unique<std::vector<delivery>>();
    out->push_back({dst, size});
    return ctx->submit(
        send, [&] { return send; }, std::move(out));
  });
}

uint64_t veo_async_write_mem(struct veo_thr_ctxt* ctx, uint64_t dst, const void* src, size_t size) {
  if (live(ctx) == nullptr) return VEO_REQUEST_ID_INVALID;
  return guarded(no_request, [&] {
    if (size > small_transfer || ctx->will_change(src, size)) {
      return transfer_in_turn(*ctx, direction::to_helper, dst, const_cast<void*>(src), size);
    }
    // What waits in the backlog is read in its turn: host functions before it may fill the buffer.
    const auto send = sending(store_request, dst, std::span(static_cast<const std::byte*>(src), size));
    return ctx->submit(send, [&] { return send; });
  });
}

// ---- with a tag

int veo_alloc_hmem(struct veo_proc_handle* handle, void** addr, const size_t size) {
  if (addr == nullptr) return fail(EINVAL, -1);
  *addr = nullptr;
  if (handle == nullptr) {
    *addr = std::malloc(size);
    return *addr == nullptr ? -1 : 0;
  }
  const proc* const of = live(handle);
  if (of == nullptr || of->identifier() >= max_tagged_procs) return fail(EINVAL, -1);
  uint64_t plain = 0;
  if (const int result = veo_alloc_mem(handle, &plain, size); result != 0) return result;
  *addr = tagged(plain, of->identifier());
  if (const hook told = hook_of(&veo_alloc_hmem)) told.function(told.payload, handle, *addr, size);
  return 0;
}

int veo_free_hmem(void* addr) {
  if (!is_tagged(addr)) {
    std::free(addr);
    return 0;
  }
  proc* const of = owner_of(addr);
  if (of == nullptr) return fail(EINVAL, -1);
  if (veo_free_mem(of, address_in(addr)) != 0) return -1;
  if (const hook told = hook_of(&veo_free_hmem)) told.function(told.payload, of, addr);
  return 0;
}

int veo_hmemcpy(void* dst, const void* src, size_t size) {
  if (!is_tagged(dst) && !is_tagged(src)) {
    if (size != 0) std::memcpy(dst, src, size);
    return 0;
  }
  proc* const to = owner_of(dst);
  proc* const from = owner_of(src);
  if ((is_tagged(dst) && to == nullptr) || (is_tagged(src) && from == nullptr)) return fail(EINVAL, -1);
  if (from == nullptr) return veo_write_mem(to, address_in(dst), src, size);
  if (to == nullptr) return veo_read_mem(from, dst, address_in(src), size);
  if (to != from) return fail(EINVAL, -1);
  return guarded(-1, [&] {
    const auto send = sending(copy_request, address_in(dst), address_in(src), static_cast<std::uint64_t>(size));
    return to->main().exchange(send).state == VEO_COMMAND_OK ? 0 : -1;
  });
}

void* veo_set_proc_identifier(void* addr, int proc_ident) {
  if (proc_ident < 0 || proc_ident >= max_tagged_procs) return fail<void*>(EINVAL, nullptr);
  return tagged(bits_of(addr), proc_ident);
}

struct veo_proc_handle* veo_get_proc_handle_from_hmem(const void* addr) {
  return owner_of(addr);
}

pid_t veo_get_pid_from_hmem(const void* addr) {
  const proc* const of = owner_of(addr);
  return of == nullptr ? -1 : of->pid();
}

int veo_get_venum_from_hmem(const void* addr) {
  const proc* const of = owner_of(addr);
  return of == nullptr ? -1 : of->ve_node();
}
}
