// memcpy between shared mappings.
#include "copy_floor.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace ham::inline v1::bench {

shared_mapping::shared_mapping(std::size_t size_bytes) : size_bytes_(size_bytes) {
  const int fd = memfd_create("ham-bench-copy", MFD_CLOEXEC);
  void* memory = MAP_FAILED;
  if (fd >= 0 && ftruncate(fd, static_cast<off_t>(size_bytes)) == 0) {
    memory = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  const int failure = errno;
  if (fd >= 0) close(fd);
  if (memory == MAP_FAILED)
    throw std::system_error(failure, std::generic_category(), "cannot map memory for the memcpy floor");
  data_ = static_cast<std::byte*>(memory);
  std::memset(data_, 1, size_bytes);
}

shared_mapping::~shared_mapping() { munmap(data_, size_bytes_); }

block_times copy_floor::copy(std::size_t size_bytes, const block_plan& plan) {
  return time_block(
      [&] {
        std::memcpy(to_.data(), from_.data(), size_bytes);
        // The copy counts as used: the compiler may neither drop nor merge it.
        asm volatile("" ::: "memory");
      },
      plan);
}

}  // namespace ham::bench
