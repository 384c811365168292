/* The VEO API, version 16: kernels called in helper processes.
 *
 * A proc is a helper process; a context is an ordered queue of requests with a thread of its own in the helper. The
 * first context of a proc is its main context, on which also all synchronous functions run. Any function may be called
 * from any thread, except that an object of arguments or attributes belongs to one thread at a time. Pointers and
 * handles fail with NULL or 0, request IDs with VEO_REQUEST_ID_INVALID, int functions with -1; errno says why.
 * See docs/veo.md. */
#ifndef VE_OFFLOAD_H
#define VE_OFFLOAD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

#include "veo_hmem.h"

#define VEO_API_VERSION 16        /* what veo_api_version() gives */
#define VEO_SYMNAME_LEN_MAX (255) /* longest path of a library or name of a symbol */
#define VEO_LOG_CATEGORY "veos.veo.veo"
#define VEO_MAX_NUM_ARGS (256)
#define VEO_REQUEST_ID_INVALID (~0UL)
#define CMD_VEGDB "/opt/nec/ve/bin/ve-gdb"
#define CMD_XTERM "/usr/bin/xterm"

#ifdef __cplusplus
extern "C" {
#endif

/** What veo_get_context_state() gives: of these only RUNNING and EXIT, and UNKNOWN, with EINVAL, for no context. */
enum veo_context_state {
  VEO_STATE_UNKNOWN = 0,
  VEO_STATE_RUNNING = 1,
  VEO_STATE_SYSCALL = 2,
  VEO_STATE_BLOCKED = 3,
  VEO_STATE_EXIT = 4
};

/** What has become of a request. */
enum veo_command_state {
  VEO_COMMAND_OK = 0,
  VEO_COMMAND_EXCEPTION = 1,
  VEO_COMMAND_ERROR = 2,
  VEO_COMMAND_UNFINISHED = 3
};

/** Of AVEO; nothing here gives one. */
enum veo_queue_state { VEO_QUEUE_READY = 0, VEO_QUEUE_CLOSED = 1 };

/** Whether a buffer goes to the kernel, goes and comes back, or comes back; see veo_args_set_stack. */
enum veo_args_intent { VEO_INTENT_IN = 0, VEO_INTENT_INOUT = 1, VEO_INTENT_OUT = 2 };

struct veo_args;
struct veo_proc_handle;
struct veo_thr_ctxt;
struct veo_thr_ctxt_attr;

/* ---- processes, libraries, symbols */

/** Starts a helper, $VEORUN_BIN or the installed one, and waits until it can be called. -1: VE_NODE_NUMBER, or 0. */
struct veo_proc_handle* veo_proc_create(int node);
/** The same with a helper of the caller's own; the text is split at blanks, the first word is a path. */
struct veo_proc_handle* veo_proc_create_static(int node, const char* helper);
/** Lets requests finish, ends the helper through exit(0), waits for its end. 0, also after a crash. */
int veo_proc_destroy(struct veo_proc_handle* proc);
/** A small number, the lowest free one at creation; -1 for an unknown handle. */
int veo_proc_identifier(struct veo_proc_handle* proc);
/** dlopen(path, RTLD_NOW | RTLD_GLOBAL) in the helper. 0 on failure. */
uint64_t veo_load_library(struct veo_proc_handle* proc, const char* path);
/** dlclose in the helper; all cached symbols of the library are dropped. */
int veo_unload_library(struct veo_proc_handle* proc, const uint64_t lib);
/** Address of a function or variable, 0 if there is none. Library 0: what is linked into the helper. */
uint64_t veo_get_sym(struct veo_proc_handle* proc, uint64_t lib, const char* name);

/* ---- contexts */

/** The main context at the first call for a proc, then new ones with a thread of their own. */
struct veo_thr_ctxt* veo_context_open(struct veo_proc_handle* proc);
struct veo_thr_ctxt* veo_context_open_with_attr(struct veo_proc_handle* proc, struct veo_thr_ctxt_attr* attr);
/** Lets requests finish and ends the thread. Nothing for the main context. */
int veo_context_close(struct veo_thr_ctxt* ctx);
/** VEO_STATE_RUNNING, or VEO_STATE_EXIT once the helper has gone. */
int veo_get_context_state(struct veo_thr_ctxt* ctx);
/** Waits until all earlier requests of this context have finished; their results are still to be fetched. */
void veo_context_sync(struct veo_thr_ctxt* ctx);
/** Contexts handed out and not closed. */
int veo_num_contexts(struct veo_proc_handle* proc);
struct veo_thr_ctxt* veo_get_context(struct veo_proc_handle* proc, int idx);
/** Between begin and end, only the calling thread submits to this context. May be nested. */
void veo_req_block_begin(struct veo_thr_ctxt* ctx);
void veo_req_block_end(struct veo_thr_ctxt* ctx);
struct veo_thr_ctxt_attr* veo_alloc_thr_ctxt_attr(void);
int veo_free_thr_ctxt_attr(struct veo_thr_ctxt_attr* attr);
/** Stack of the context's thread, in bytes: at least 4 MiB, 128 MiB by default. */
int veo_set_thr_ctxt_stacksize(struct veo_thr_ctxt_attr* attr, size_t bytes);
int veo_get_thr_ctxt_stacksize(struct veo_thr_ctxt_attr* attr, size_t* bytes);

/* ---- arguments; `index` counts from 0 */

/** An empty list, to be freed by veo_args_free; NULL if there is no memory. */
struct veo_args* veo_args_alloc(void);
/** Setters replace what `index` had; indices may come in any order. 0, or -1 with EINVAL (no list, or an index below 0
 * or from 4096 on; portable programs stay below VEO_MAX_NUM_ARGS) or ENOMEM. */
int veo_args_set_i64(struct veo_args* args, int index, int64_t value);
int veo_args_set_u64(struct veo_args* args, int index, uint64_t value);
int veo_args_set_i32(struct veo_args* args, int index, int32_t value);
int veo_args_set_u32(struct veo_args* args, int index, uint32_t value);
int veo_args_set_i16(struct veo_args* args, int index, int16_t value);
int veo_args_set_u16(struct veo_args* args, int index, uint16_t value);
int veo_args_set_i8(struct veo_args* args, int index, int8_t value);
int veo_args_set_u8(struct veo_args* args, int index, uint8_t value);
int veo_args_set_double(struct veo_args* args, int index, double value);
int veo_args_set_float(struct veo_args* args, int index, float value);
/** The kernel gets a pointer to a copy of `len` bytes. IN and INOUT are copied at the call; INOUT and OUT come back
 * before the request has finished. */
int veo_args_set_stack(struct veo_args* args, enum veo_args_intent intent, int index, char* buf, size_t len);
/** The kernel gets the pointer with its tag if its library uses veo_hmem.h, else the address. */
int veo_args_set_hmem(struct veo_args* args, int index, void* pointer);
void veo_args_clear(struct veo_args* args);
void veo_args_free(struct veo_args* args);

/* ---- calls and results */

/** On the main context; 0, or -1 on every failure. */
int veo_call_sync(struct veo_proc_handle* proc, uint64_t addr, struct veo_args* args, uint64_t* result);
/** Queues a call. Does not wait. */
uint64_t veo_call_async(struct veo_thr_ctxt* ctx, uint64_t addr, struct veo_args* args);
uint64_t veo_call_async_by_name(struct veo_thr_ctxt* ctx, uint64_t lib, const char* name, struct veo_args* args);
/** Queues a function of the host; it runs on a thread of the library when its turn comes. */
uint64_t veo_call_async_vh(struct veo_thr_ctxt* ctx, uint64_t (*func)(void*), void* arg);
/** An enum veo_command_state. Every result can be fetched once. */
int veo_call_peek_result(struct veo_thr_ctxt* ctx, uint64_t req, uint64_t* ret);
int veo_call_wait_result(struct veo_thr_ctxt* ctx, uint64_t req, uint64_t* ret);

/* ---- memory */

/** These wait. 0, or -1. `*addr`: address in the helper; 0 on failure. Freeing is 0, too, if the helper has died. */
int veo_alloc_mem(struct veo_proc_handle* proc, uint64_t* addr, const size_t size);
int veo_free_mem(struct veo_proc_handle* proc, uint64_t addr);
int veo_read_mem(struct veo_proc_handle* proc, void* dst, uint64_t src, size_t size);
int veo_write_mem(struct veo_proc_handle* proc, uint64_t dst, const void* src, size_t size);
/** Queue an allocation, whose result is the address, and the end of one. Do not wait. */
uint64_t veo_alloc_mem_async(struct veo_thr_ctxt* ctx, const size_t size);
uint64_t veo_free_mem_async(struct veo_thr_ctxt* ctx, uint64_t addr);
/** The buffer is the library's until the request has finished. */
uint64_t veo_async_read_mem(struct veo_thr_ctxt* ctx, void* dst, uint64_t src, size_t size);
uint64_t veo_async_write_mem(struct veo_thr_ctxt* ctx, uint64_t dst, const void* src, size_t size);

/* ---- memory with a tag */

/** Memory of the proc, tagged; of the host, untagged, if proc is NULL. */
int veo_alloc_hmem(struct veo_proc_handle* proc, void** addr, const size_t size);
int veo_free_hmem(void* addr);
/** Direction from the tags; both tagged: within one proc only. */
int veo_hmemcpy(void* dst, const void* src, size_t size);
void* veo_set_proc_identifier(void* addr, int proc_ident);
struct veo_proc_handle* veo_get_proc_handle_from_hmem(const void* addr);
pid_t veo_get_pid_from_hmem(const void* addr);
int veo_get_venum_from_hmem(const void* addr);

/* ---- hooks, version, architecture */

/** Called after a memory function has succeeded, as hook(payload, arguments of the function...). */
void veo_register_hook(void* func, void (*hook)(void*, ...), void* payload);
void* veo_get_hook(void* func);
void veo_unregister_hook(void* func);
void veo_register_hmem_hook_functions(void (*alloc)(void*, size_t), void (*free)(uint64_t));
#ifdef __cplusplus
void veo_unregister_hmem_hook_functions();
#else
void veo_unregister_hmem_hook_functions(void);
#endif
const char* veo_version_string(void);
int veo_api_version(void);
/** Always 1 for a node that may be; 0 for a node that may not. */
int veo_get_ve_arch(int node);

#ifdef __cplusplus
}
#endif
#endif
