// The library that the kernels load into the host's process: its functions make the system calls.
#include <libvhcall.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <stdexcept>

#include "forwarded_calls/file_calls.hpp"

namespace {

const forwarded_calls::file& host_file() {
  static const forwarded_calls::file one;
  return one;
}

const forwarded_calls::output_file& host_output() {
  static const forwarded_calls::output_file one;
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

long host_print(veos_handle*, const void* in, std::size_t in_bytes, void*, std::size_t) {
  return without_exceptions([&] { host_output().append({static_cast<const char*>(in), in_bytes}); });
}

long host_clear_output(veos_handle*, const void*, std::size_t, void*, std::size_t) {
  return without_exceptions([] { host_output().clear(); });
}

/// Of so many lines of so many bytes: 0 if they are there.
long host_check_output(veos_handle*, const void* in, std::size_t in_bytes, void*, std::size_t) {
  return without_exceptions([&] {
    std::uint64_t numbers[2] = {};
    if (in_bytes != sizeof numbers) throw std::invalid_argument("two numbers are expected");
    std::memcpy(numbers, in, sizeof numbers);
    if (!host_output().holds(numbers[0], numbers[1])) throw std::runtime_error("other lines than were printed");
  });
}

}  // extern "C"
