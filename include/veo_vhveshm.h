/* System V shared memory of the host on a Vector Engine. Needs the hardware: here every function fails with ENOTSUP. */
#ifndef VEO_VHVESHM_H
#define VEO_VHVESHM_H

#include <sys/ipc.h>

#include "ve_offload.h"

#ifdef __cplusplus
extern "C" {
#endif

/** -1 with ENOTSUP. */
int veo_shmget(struct veo_proc_handle* proc, key_t key, size_t size, int flags);
/** (void*)-1 with ENOTSUP; EFAULT if `vehva` is NULL. */
void* veo_shmat(struct veo_proc_handle* proc, int shmid, const void* addr, int flags, void** vehva);
/** -1 with ENOTSUP. */
int veo_shmdt(struct veo_proc_handle* proc, const void* addr);

#ifdef __cplusplus
}
#endif
#endif
