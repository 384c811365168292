// Pointers with a tag (veo_hmem.h): on the host and in helpers alike.
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tagged_pointers.hpp"
#include "veo_hmem.h"

using namespace ham::veo;

extern "C" {

int veo_is_ve_addr(const void* addr) { return is_tagged(addr) ? 1 : 0; }

void* veo_get_hmem_addr(void* addr) {
  return is_tagged(addr) ? reinterpret_cast<void*>(address_in(addr)) : addr;  // NOLINT: an address of another process
}

int veo_get_max_proc_identifier(void) { return max_tagged_procs; }

int veo_get_proc_identifier_from_hmem(const void* addr) { return is_tagged(addr) ? identifier_in(addr) : -1; }

signed long syscall_wrapper(int number, signed long a, signed long b, signed long c, signed long d, signed long e,
                            signed long f) {
  const signed long result = ::syscall(number, a, b, c, d, e, f);
  return result == -1 ? -errno : result;
}
}
