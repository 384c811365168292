/* Memory shared between Vector Engines. Needs the hardware: here every function fails with ENOTSUP. */
#ifndef VEO_VESHM_H
#define VEO_VESHM_H

#include "ve_offload.h"
#include "veo_veshm_defs.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Offer tagged memory to other processes and end that: -1 with ENOTSUP; EINVAL if it has no tag. */
int veo_shared_mem_open(void* hmem, size_t size, int syncnum, long long mode);
int veo_shared_mem_close(void* hmem, size_t size, int syncnum, long long mode);
/** (void*)-1 with ENOTSUP. */
void* veo_shared_mem_attach(struct veo_proc_handle* proc, pid_t pid, void* hmem, size_t size, int syncnum,
                            long long mode);
/** -1 with ENOTSUP. */
int veo_shared_mem_detach(struct veo_proc_handle* proc, void* addr, long long mode);
/** Does nothing. */
void veo_access_pcircvsyc_register(struct veo_proc_handle* proc);

#ifdef __cplusplus
}
#endif
#endif
