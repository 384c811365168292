// Interfaces that need a Vector Engine: they say so.
#include <errno.h>

#include "../tagged_pointers.hpp"
#include "guard.hpp"
#include "veo_vedma.h"
#include "veo_veshm.h"
#include "veo_vhveshm.h"

using namespace ham::veo;

namespace {
void* const no_address = reinterpret_cast<void*>(-1);  // NOLINT: the documented answer
int need_hardware(const void* hmem) noexcept { return fail(is_tagged(hmem) ? ENOTSUP : EINVAL, -1); }
}  // namespace

extern "C" {

int veo_shared_mem_open(void* hmem, size_t, int, long long) { return need_hardware(hmem); }
int veo_shared_mem_close(void* hmem, size_t, int, long long) { return need_hardware(hmem); }
void* veo_shared_mem_attach(struct veo_proc_handle*, pid_t, void*, size_t, int, long long) {
  return fail(ENOTSUP, no_address);
}
int veo_shared_mem_detach(struct veo_proc_handle*, void*, long long) { return fail(ENOTSUP, -1); }
void veo_access_pcircvsyc_register(struct veo_proc_handle*) {}

int veo_shmget(struct veo_proc_handle*, key_t, size_t, int) { return fail(ENOTSUP, -1); }
void* veo_shmat(struct veo_proc_handle*, int, const void*, int, void** vehva) {
  return fail(vehva == nullptr ? EFAULT : ENOTSUP, no_address);
}
int veo_shmdt(struct veo_proc_handle*, const void*) { return fail(ENOTSUP, -1); }

int veo_dma_post(struct veo_proc_handle*, uint64_t, uint64_t, int, ve_dma_handle_t* handle) {
  return handle == nullptr ? -EFAULT : -ENOTSUP;
}
int veo_dma_poll(struct veo_proc_handle*, ve_dma_handle_t* handle) { return handle == nullptr ? -EFAULT : -ENOTSUP; }
int veo_dma_post_wait(struct veo_proc_handle*, uint64_t, uint64_t, int) { return -ENOTSUP; }
uint64_t veo_register_mem_to_dmaatb(void*, size_t) { return fail(ENOTSUP, ~uint64_t{0}); }
int veo_unregister_mem_from_dmaatb(struct veo_proc_handle*, uint64_t) { return fail(ENOTSUP, -1); }
}
