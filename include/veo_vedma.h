/* DMA of a Vector Engine. Needs the hardware: here every function answers -ENOTSUP, or fails with ENOTSUP. */
#ifndef VEO_VEDMA_H
#define VEO_VEDMA_H

#include "ve_offload.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A transfer of a Vector Engine, which is never one here. */
struct ve_dma_handle {
  int status; /**< not looked at */
  int index;  /**< likewise */
};
/** Its usual name. */
typedef struct ve_dma_handle ve_dma_handle_t;

/** Post, ask for, or post and wait for a transfer: -ENOTSUP, or -EFAULT if `handle` is NULL. */
int veo_dma_post(struct veo_proc_handle* proc, uint64_t dst, uint64_t src, int size, ve_dma_handle_t* handle);
int veo_dma_poll(struct veo_proc_handle* proc, ve_dma_handle_t* handle);
int veo_dma_post_wait(struct veo_proc_handle* proc, uint64_t dst, uint64_t src, int size);
/** Register memory for DMA and end that: ~0, or -1, with ENOTSUP. */
uint64_t veo_register_mem_to_dmaatb(void* hmem, size_t size);
int veo_unregister_mem_from_dmaatb(struct veo_proc_handle* proc, uint64_t vehva);

#ifdef __cplusplus
}
#endif
#endif
