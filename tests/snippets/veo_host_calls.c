/* The blocks of docs/veo.md on kernels that call the host; tests/veo/vhcall_test.c runs such calls. */
#include <libveos.h>
#include <libvhcall.h>
#include <stddef.h>
#include <stdint.h>

long kernel(const void* in, size_t in_bytes, void* out, size_t out_bytes) {
#include "veo/vhcall_kernels.inc"
  return result;
}

#include "veo/vhcall_host.inc"
