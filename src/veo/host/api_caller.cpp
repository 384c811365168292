// libveos.h: what functions of the host do with the memory of the helper that has called them.
#include <errno.h>

#include "guard.hpp"
#include "host_functions.hpp"
#include "libveos.h"
#include "proc.hpp"

using namespace ham::veo;

namespace {

int transfer_for(const veos_handle* handle, direction where, std::uint64_t remote, void* local, std::size_t bytes) {
  if (handle == nullptr || (local == nullptr && bytes != 0)) return fail(EINVAL, -1);
  return guarded(
      -1, [&] { return handle->of->transfer_now(handle->back, where, remote, local, bytes) ? 0 : fail(EFAULT, -1); });
}

}  // namespace

extern "C" {

int ve_send_data(veos_handle* handle, uint64_t to_in_helper, size_t bytes, void* from) {
  return transfer_for(handle, direction::to_helper, to_in_helper, from, bytes);
}

int ve_recv_data(veos_handle* handle, uint64_t from_in_helper, size_t bytes, void* to) {
  return transfer_for(handle, direction::from_helper, from_in_helper, to, bytes);
}
}
