// shmget, shmat, shmctl.
#include "transport/vedma/segment.hpp"

#include <sys/ipc.h>
#include <sys/shm.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "ham/error.hpp"

namespace ham::inline v1::transport::vedma {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

[[noreturn]] void refuse(const std::string& what) {
  throw config_error("cannot " + what + " (" + std::strerror(errno) +
                     "); see the limits kernel.shmmax and kernel.shmmni");
}

std::byte* attached(int id) {
  void* const memory = ::shmat(id, nullptr, 0);
  return reinterpret_cast<std::intptr_t>(memory) == -1 ? nullptr : static_cast<std::byte*>(memory);
}

}  // namespace

segment segment::make(std::size_t size) {
  size = (size + huge_page - 1) / huge_page * huge_page;
  int id = ::shmget(IPC_PRIVATE, size, IPC_CREAT | SHM_HUGETLB | 0600);
  if (id < 0) id = ::shmget(IPC_PRIVATE, size, IPC_CREAT | 0600);
  if (id < 0) refuse("make a shared memory segment");
  std::byte* const memory = attached(id);
  ::shmctl(id, IPC_RMID, nullptr);
  if (memory == nullptr) refuse("attach a shared memory segment");
  return {id, memory};
}

segment segment::attach(std::uint64_t id, std::size_t size) {
  shmid_ds status{};
  errno = EINVAL;  // of a number that the kernel does not give
  const int number = std::in_range<int>(id) ? static_cast<int>(id) : -1;
  if (number < 0 || ::shmctl(number, IPC_STAT, &status) != 0) refuse("find the shared memory segment of the host");
  errno = EINVAL;  // of one that is too small
  std::byte* const memory = status.shm_segsz >= size ? attached(number) : nullptr;
  if (memory == nullptr) refuse("attach the shared memory segment of the host");
  return {number, memory};
}

segment::~segment() {
  if (memory_ != nullptr) ::shmdt(memory_);
}

}  // namespace ham::transport::vedma
