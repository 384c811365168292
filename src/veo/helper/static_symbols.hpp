// What mk_veorun_static adds to a helper.
#pragma once

extern "C" {

/// Ends with a name that is NULL.
struct ham_veo_static_symbol {
  const char* name;
  void* address;
};
[[gnu::weak]] extern const ham_veo_static_symbol ham_veo_static_symbols[];
/// Not 0: the kernels use veo_hmem.h.
[[gnu::weak]] extern const int ham_veo_static_keeps_tags;
/// Not 0: they call functions of the host.
[[gnu::weak]] extern const int ham_veo_static_calls_host;
/// Not 0: the helper was linked with -ftrace.
[[gnu::weak]] extern const int ham_veo_static_ftrace;
}
