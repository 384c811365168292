/* VHcall: kernels call functions of the host program's process. Kernels link -lvhcall; libraries of the host need
 * nothing but this header. */
#ifndef LIBVHCALL_H
#define LIBVHCALL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The caller, as functions of the host see it: opaque, valid during the call. */
typedef struct veos_handle veos_handle;

typedef uint64_t vhcall_handle; /**< a library of the host */
typedef struct vhcall_args vhcall_args;

#define VHCALL_HANDLE_INVALID ((vhcall_handle)-1) /* what vhcall_install gives when it fails */

/** What becomes of a buffer: goes to the host, goes and comes back, or comes back (zero at first). */
enum vhcall_args_intent { VHCALL_INTENT_IN = 0, VHCALL_INTENT_INOUT = 1, VHCALL_INTENT_OUT = 2 };

/* All of this is for kernels, on any thread. Functions wait for the host. On failure they set errno and the host says
 * why on stderr: EINVAL (not of this helper, uninstalled, NULL), ENOENT (no such library or symbol), EIO (longer than
 * a message), ENOMEM, ECONNRESET (the host is gone), ENOSYS (this process is no helper). */

/** Loads a library in the host process, as dlopen there does. A handle of its own each time, or
 * VHCALL_HANDLE_INVALID. */
vhcall_handle vhcall_install(const char* lib);
/** Number of a function, or -1. */
int64_t vhcall_find(vhcall_handle handle, const char* symname);
/** Calls `long f(veos_handle*, const void* in, size_t insz, void* out, size_t outsz)`. Both buffers are copies there:
 * `in` is read now; all `outsz` bytes of `out` are written when f has returned, zero where f wrote nothing. What f
 * returns, or -1. */
long vhcall_invoke(int64_t symid, const void* in, size_t insz, void* out, size_t outsz);
/** Calls a function of any signature. 0 and its result in `*retval` (NULL: dropped), or -1. */
int vhcall_invoke_with_args(int64_t symid, vhcall_args* args, uint64_t* retval);
/** Forgets a library; its functions' numbers are invalid from now on. It is unloaded when none of its functions runs.
 * 0, or -1. */
int vhcall_uninstall(vhcall_handle handle);

/* Argument lists: one thread at a time, usable for any number of calls. Setters return 0, or -1 with EINVAL or ENOMEM;
 * all arguments below the highest one must be set before a call. */
vhcall_args* vhcall_args_alloc(void);
void vhcall_args_free(vhcall_args* args);
void vhcall_args_clear(vhcall_args* args);
int vhcall_args_set_i8(vhcall_args* args, int argnum, int8_t value);
int vhcall_args_set_u8(vhcall_args* args, int argnum, uint8_t value);
int vhcall_args_set_i16(vhcall_args* args, int argnum, int16_t value);
int vhcall_args_set_u16(vhcall_args* args, int argnum, uint16_t value);
int vhcall_args_set_i32(vhcall_args* args, int argnum, int32_t value);
int vhcall_args_set_u32(vhcall_args* args, int argnum, uint32_t value);
int vhcall_args_set_i64(vhcall_args* args, int argnum, int64_t value);
int vhcall_args_set_u64(vhcall_args* args, int argnum, uint64_t value);
int vhcall_args_set_float(vhcall_args* args, int argnum, float value);
int vhcall_args_set_double(vhcall_args* args, int argnum, double value);
/** The function gets the address of a copy of the buffer, valid during the call. IN: read when the call begins; INOUT
 * and OUT: written before it returns. */
int vhcall_args_set_pointer(vhcall_args* args, enum vhcall_args_intent inout, int argnum, void* buff, size_t len);
/** The same; the name that VEO's argument lists use. */
int vhcall_args_set_stack(vhcall_args* args, enum vhcall_args_intent inout, int argnum, void* buff, size_t len);
/** The function gets its veos_handle. */
int vhcall_args_set_veoshandle(vhcall_args* args, int argnum);

#ifdef __cplusplus
}
#endif
#endif
