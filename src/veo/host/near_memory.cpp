// process_vm_readv and process_vm_writev; two threads for large transfers, because the kernel pins every page.
#include "near_memory.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <system_error>
#include <thread>

#include "log.hpp"

namespace ham::inline v1::veo {
namespace {

constexpr std::size_t worth_two_threads = std::size_t{1} << 20;

bool copy_part(pid_t pid, direction where, std::uint64_t remote, char* local, std::size_t bytes) noexcept {
  constexpr std::size_t at_once = std::size_t{1} << 30;
  while (bytes != 0) {
    const iovec here{local, std::min(bytes, at_once)};
    const iovec there{reinterpret_cast<void*>(static_cast<std::uintptr_t>(remote)), here.iov_len};  // NOLINT: not ours
    const ssize_t moved = where == direction::to_helper ? ::process_vm_writev(pid, &here, 1, &there, 1, 0)
                                                        : ::process_vm_readv(pid, &here, 1, &there, 1, 0);
    if (moved <= 0) return false;
    local += moved;
    remote += static_cast<std::uint64_t>(moved);
    bytes -= static_cast<std::size_t>(moved);
  }
  return true;
}

}  // namespace

bool copy_near(pid_t pid, direction where, std::uint64_t remote, void* local, std::size_t bytes) noexcept {
  char* const here = static_cast<char*>(local);
  static const bool alone = std::thread::hardware_concurrency() < 2;
  if (bytes < worth_two_threads || alone) return copy_part(pid, where, remote, here, bytes);
  const std::size_t half = bytes / 2;
  bool second = false;
  try {
    std::thread other([&] { second = copy_part(pid, where, remote + half, here + half, bytes - half); });
    const bool first = copy_part(pid, where, remote, here, half);
    other.join();
    return first && second;
  } catch (const std::system_error&) {  // no thread to be had
    return copy_part(pid, where, remote, here, bytes);
  }
}

}  // namespace ham::veo
