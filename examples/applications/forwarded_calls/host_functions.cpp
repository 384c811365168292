// The library that the kernels load into the host's process: its functions make the system calls.
#include <libvhcall.h>

#include <cstddef>
#include <exception>

#include "forwarded_calls/file_calls.hpp"

namespace {

const forwarded_calls::file& host_file() {
  static const forwarded_calls::file one;
  return one;
}

template <class Call>
long without_exceptions(Call call) noexcept {
  try {
    call();
    return 0;
  } catch (const std::exception&) {
    return -1;
  }
}

}  // namespace

extern "C" {

long host_write(veos_handle*, const void* in, std::size_t in_bytes, void*, std::size_t) {
  return without_exceptions([&] { host_file().write({static_cast<const std::byte*>(in), in_bytes}); });
}

long host_read(veos_handle*, const void*, std::size_t, void* out, std::size_t out_bytes) {
  return without_exceptions([&] { host_file().read({static_cast<std::byte*>(out), out_bytes}); });
}

}  // extern "C"
