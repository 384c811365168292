// The part of the VEO C API that the transports of Vector Engines need, from whichever libveo there is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

// Tags of VEO's opaque types: global, as in its own header.
struct veo_proc_handle;
struct veo_thr_ctxt;
struct veo_args;

namespace ham::inline v1::transport::veo {

/// States of a request.
inline constexpr int command_unfinished = 3;
inline constexpr std::uint64_t no_request = ~std::uint64_t{0};

struct libveo {
  veo_proc_handle* (*proc_create)(int);
  int (*proc_destroy)(veo_proc_handle*);
  std::uint64_t (*load_library)(veo_proc_handle*, const char*);
  std::uint64_t (*get_sym)(veo_proc_handle*, std::uint64_t, const char*);
  veo_thr_ctxt* (*context_open)(veo_proc_handle*);
  veo_args* (*args_alloc)();
  int (*args_set_u64)(veo_args*, int, std::uint64_t);
  void (*args_free)(veo_args*);
  std::uint64_t (*call_async)(veo_thr_ctxt*, std::uint64_t, veo_args*);
  int (*call_peek_result)(veo_thr_ctxt*, std::uint64_t, std::uint64_t*);
  int (*alloc_mem)(veo_proc_handle*, std::uint64_t*, std::size_t);
  int (*read_mem)(veo_proc_handle*, void*, std::uint64_t, std::size_t);
  int (*write_mem)(veo_proc_handle*, std::uint64_t, const void*, std::size_t);

  /// Loaded once: HAM_VEO_LIBRARY, or libveo.so.1 from the loader's search path. Throws ham::config_error.
  static const libveo& get();
};

}  // namespace ham::transport::veo
