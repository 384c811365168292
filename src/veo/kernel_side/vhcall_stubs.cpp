// libvhcall: lets kernels be linked with -lvhcall. In a helper its own functions come first.
#include <errno.h>

#include <cstdio>

#include "libvhcall.h"

namespace {

template <class T>
T absent(T failure) noexcept {
  std::fputs("vhcall: this process is no helper of libveo (aveorun), so it has no host to call\n", stderr);
  errno = ENOSYS;
  return failure;
}

}  // namespace

extern "C" {

vhcall_handle vhcall_install(const char*) { return absent(VHCALL_HANDLE_INVALID); }
int64_t vhcall_find(vhcall_handle, const char*) { return absent(int64_t{-1}); }
long vhcall_invoke(int64_t, const void*, size_t, void*, size_t) { return absent(-1L); }
int vhcall_invoke_with_args(int64_t, vhcall_args*, uint64_t*) { return absent(-1); }
int vhcall_uninstall(vhcall_handle) { return absent(-1); }

vhcall_args* vhcall_args_alloc(void) { return absent<vhcall_args*>(nullptr); }
void vhcall_args_free(vhcall_args*) {}
void vhcall_args_clear(vhcall_args*) {}
int vhcall_args_set_i8(vhcall_args*, int, int8_t) { return absent(-1); }
int vhcall_args_set_u8(vhcall_args*, int, uint8_t) { return absent(-1); }
int vhcall_args_set_i16(vhcall_args*, int, int16_t) { return absent(-1); }
int vhcall_args_set_u16(vhcall_args*, int, uint16_t) { return absent(-1); }
int vhcall_args_set_i32(vhcall_args*, int, int32_t) { return absent(-1); }
int vhcall_args_set_u32(vhcall_args*, int, uint32_t) { return absent(-1); }
int vhcall_args_set_i64(vhcall_args*, int, int64_t) { return absent(-1); }
int vhcall_args_set_u64(vhcall_args*, int, uint64_t) { return absent(-1); }
int vhcall_args_set_float(vhcall_args*, int, float) { return absent(-1); }
int vhcall_args_set_double(vhcall_args*, int, double) { return absent(-1); }
int vhcall_args_set_pointer(vhcall_args*, enum vhcall_args_intent, int, void*, size_t) { return absent(-1); }
int vhcall_args_set_stack(vhcall_args*, enum vhcall_args_intent, int, void*, size_t) { return absent(-1); }
int vhcall_args_set_veoshandle(vhcall_args*, int) { return absent(-1); }
}
