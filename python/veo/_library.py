"""libveo through cffi: declarations, and where the library is."""
import os
import pathlib

import cffi
import numpy as np

ffi = cffi.FFI()
ffi.cdef(
    """
    struct veo_args; struct veo_proc_handle; struct veo_thr_ctxt;
    const char *veo_version_string(void);
    int veo_api_version(void);
    int veo_get_ve_arch(int node);
    struct veo_proc_handle *veo_proc_create(int node);
    struct veo_proc_handle *veo_proc_create_static(int node, const char *helper);
    int veo_proc_destroy(struct veo_proc_handle *);
    int veo_proc_identifier(struct veo_proc_handle *);
    uint64_t veo_load_library(struct veo_proc_handle *, const char *);
    int veo_unload_library(struct veo_proc_handle *, uint64_t);
    uint64_t veo_get_sym(struct veo_proc_handle *, uint64_t, const char *);
    struct veo_thr_ctxt *veo_context_open(struct veo_proc_handle *);
    int veo_context_close(struct veo_thr_ctxt *);
    struct veo_thr_ctxt *veo_get_context(struct veo_proc_handle *, int);
    void veo_context_sync(struct veo_thr_ctxt *);
    int veo_get_context_state(struct veo_thr_ctxt *);
    struct veo_args *veo_args_alloc(void);
    void veo_args_clear(struct veo_args *);
    void veo_args_free(struct veo_args *);
    int veo_args_set_i32(struct veo_args *, int, int32_t);
    int veo_args_set_i64(struct veo_args *, int, int64_t);
    int veo_args_set_u32(struct veo_args *, int, uint32_t);
    int veo_args_set_u64(struct veo_args *, int, uint64_t);
    int veo_args_set_float(struct veo_args *, int, float);
    int veo_args_set_double(struct veo_args *, int, double);
    int veo_args_set_stack(struct veo_args *, int intent, int, char *, size_t);
    int veo_ham_args_set_result(struct veo_args *, int kind);
    uint64_t veo_call_async(struct veo_thr_ctxt *, uint64_t, struct veo_args *);
    int veo_call_wait_result(struct veo_thr_ctxt *, uint64_t, uint64_t *);
    int veo_call_peek_result(struct veo_thr_ctxt *, uint64_t, uint64_t *);
    int veo_alloc_mem(struct veo_proc_handle *, uint64_t *, size_t);
    int veo_free_mem(struct veo_proc_handle *, uint64_t);
    int veo_read_mem(struct veo_proc_handle *, void *, uint64_t, size_t);
    int veo_write_mem(struct veo_proc_handle *, uint64_t, const void *, size_t);
    uint64_t veo_async_read_mem(struct veo_thr_ctxt *, void *, uint64_t, size_t);
    uint64_t veo_async_write_mem(struct veo_thr_ctxt *, uint64_t, const void *, size_t);
    int veo_alloc_hmem(struct veo_proc_handle *, void **, size_t);
    int veo_free_hmem(void *);
    int veo_hmemcpy(void *, const void *, size_t);
    int veo_is_ve_addr(const void *);
    void *veo_get_hmem_addr(void *);
    void *veo_set_proc_identifier(void *, int);
    int veo_get_proc_identifier_from_hmem(const void *);
    struct veo_proc_handle *veo_get_proc_handle_from_hmem(const void *);
    """
)

INVALID = 0xFFFFFFFFFFFFFFFF


def _open():
    names = ["libveo.so.1"]
    if os.environ.get("VEO_LIB_DIR"):
        names.insert(0, str(pathlib.Path(os.environ["VEO_LIB_DIR"]) / "libveo.so.1"))
    names += ["/usr/local/lib/libveo.so.1", "/opt/nec/ve/veos/lib64/libveo.so.1"]
    problem = None
    for name in names:
        try:
            return ffi.dlopen(name)
        except OSError as error:
            problem = problem or error
    raise ImportError(f"libveo is not there ({problem}); VEO_LIB_DIR names its folder")


lib = _open()


def _in_memory_order(what):
    """`what`, or a view of the same memory in which the elements come in C's order."""
    view = memoryview(what)
    if view.c_contiguous or not view.f_contiguous:
        return what
    return (what if isinstance(what, np.ndarray) else np.asarray(view)).T


def buffer_of(what):
    """A buffer that is contiguous in C's or Fortran's order as char *, in the order of its memory; keeps `what` alive.
    TypeError if it is none, ValueError if it has gaps."""
    try:
        # An example of py-veo reads into a bytes object: read-only buffers are taken as destinations, too.
        return ffi.from_buffer("char[]", _in_memory_order(what), require_writable=False)
    except (BufferError, ValueError) as problem:
        raise ValueError(f"the buffer is not contiguous ({problem})") from None


def address(value):
    return ffi.cast("void *", int(value))


def number(pointer):
    return int(ffi.cast("uintptr_t", pointer))


def name_of(text):
    return text.encode() if isinstance(text, str) else bytes(text)
