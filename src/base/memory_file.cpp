// Anonymous shared memory by memfd_create(2).
#include "base/memory_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/refused_call.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::base {
namespace {

[[noreturn]] void refuse(const char* what, const char* call, std::size_t size_bytes) {
  const std::string why =
      errno == EFBIG ? " (more than the limit of file sizes, which counts here, too); raise the limit ulimit -f"
                     : refused_call(call, "raise the limit of memory (ulimit -v) or descriptors (ulimit -n)");
  throw config_error(std::string("cannot ") + what + " " + std::to_string(size_bytes) + " bytes of shared memory" +
                     why);
}

}  // namespace

std::uint64_t max_file_bytes() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
  return limit.rlim_cur;
}

bool resize_file(int fd, std::uint64_t size_bytes) noexcept {
  if (size_bytes > max_file_bytes()) {  // the kernel would raise SIGXFSZ, which ends the process
    errno = EFBIG;
    return false;
  }
  return ::ftruncate(fd, static_cast<off_t>(size_bytes)) == 0;
}

void drop_range(int fd, std::uint64_t begin, std::uint64_t size_bytes) noexcept {
  static_cast<void>(::fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin),
                                static_cast<off_t>(size_bytes)));
}

unique_fd make_memory_file(const char* name, std::size_t size_bytes) {
  unique_fd fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) refuse("create", "memfd_create", size_bytes);
  if (!resize_file(fd.get(), size_bytes)) refuse("create", "ftruncate", size_bytes);
  // No peer can take mapped memory away from the others, nor forbid them by a further seal to write to it or to let it
  // grow.
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) != 0) refuse("seal", "fcntl", size_bytes);
  return fd;
}

mapping::mapping(int fd, std::size_t size_bytes) : size_(size_bytes) {
  void* at = ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (at == MAP_FAILED) refuse("map", "mmap", size_bytes);
  data_ = static_cast<std::byte*>(at);
}

mapping::mapping(mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

mapping& mapping::operator=(mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

mapping::~mapping() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

std::size_t file_size(int fd) noexcept {
  struct stat status {};
  return ::fstat(fd, &status) == 0 && status.st_size > 0 ? static_cast<std::size_t>(status.st_size) : 0;
}

}  // namespace ham::base
