/* For functions of the host that kernels call (libvhcall.h): the memory of the helper that has called. With libveo. */
#ifndef LIBVEOS_H
#define LIBVEOS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a function of the host gets from its caller; valid while the caller's thread lives. */
typedef struct veos_handle veos_handle;

/** Copies between the caller's memory and this process's, at once, whatever the helper's contexts have queued. Any
 * thread. 0, or -1 with EINVAL (no handle) or EFAULT (not the helper's memory, or it is gone). */
int ve_send_data(veos_handle* handle, uint64_t to_in_helper, size_t bytes, void* from);
int ve_recv_data(veos_handle* handle, uint64_t from_in_helper, size_t bytes, void* to);

#ifdef __cplusplus
}
#endif
#endif
