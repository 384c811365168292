#include "transport/cuda/emulated_arena.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <new>
#include <string_view>

#include "ham/error.hpp"

namespace ham::inline v1::transport::cuda {
namespace {

constexpr std::uint32_t emulated_kind = 0x656d756c;  // "emul"

struct emulated_handle {
  std::uint32_t kind;
  std::int32_t pid;
  std::int32_t fd;
  std::uint32_t unused;
  std::uint64_t bytes;
  std::uint64_t key[2];
};

/// The kernel shows it as "/memfd:NAME (deleted)".
class arena_name {
 public:
  explicit arena_name(const std::uint64_t (&key)[2]) noexcept {
    std::snprintf(text_.data(), text_.size(), "/memfd:ham-arena-%016llx%016llx (deleted)",
                  static_cast<unsigned long long>(key[0]), static_cast<unsigned long long>(key[1]));
    std::snprintf(name_.data(), name_.size(), "ham-arena-%016llx%016llx", static_cast<unsigned long long>(key[0]),
                  static_cast<unsigned long long>(key[1]));
  }
  [[nodiscard]] const char* name() const noexcept { return name_.data(); }
  [[nodiscard]] std::string_view shown() const noexcept { return text_.data(); }

 private:
  std::array<char, 80> text_{};
  std::array<char, 64> name_{};
};

struct mapped_arena final : peer_arena {
  using peer_arena::peer_arena;
  ~mapped_arena() override {
    ::munmap(reinterpret_cast<void*>(static_cast<std::uintptr_t>(address())), static_cast<std::size_t>(bytes()));
  }
};

/// Without touching what the peer names before it is known to be an arena: to open a device or a pipe may do something.
base::unique_fd open_named(const emulated_handle& of) noexcept {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/%d/fd/%d", of.pid, of.fd);
  const base::unique_fd place(::open(path.data(), O_PATH | O_CLOEXEC));
  if (!place) return {};
  std::snprintf(path.data(), path.size(), "/proc/self/fd/%d", place.get());
  std::array<char, 128> shown{};
  const ssize_t length = ::readlink(path.data(), shown.data(), shown.size());
  if (length < 0 || std::string_view(shown.data(), static_cast<std::size_t>(length)) != arena_name(of.key).shown())
    return {};
  return base::unique_fd(::open(path.data(), O_RDONLY | O_CLOEXEC));
}

/// Bytes that cannot go while they are mapped: to read beyond the end of a file ends the process.
bool is_arena(int fd, std::uint64_t bytes) noexcept {
  struct stat status {};
  const int seals = ::fcntl(fd, F_GET_SEALS);
  return bytes != 0 && seals >= 0 && (seals & F_SEAL_SHRINK) != 0 && ::fstat(fd, &status) == 0 &&
         S_ISREG(status.st_mode) && status.st_uid == ::geteuid() && status.st_size > 0 &&
         bytes <= static_cast<std::uint64_t>(status.st_size);
}

void make_key(std::uint64_t (&key)[2]) {
  if (::getrandom(key, sizeof key, 0) != sizeof key)
    throw config_error("an emulated device cannot have memory (the kernel gives no random numbers)");
}

}  // namespace

emulated_arena::emulated_arena(std::size_t bytes) {
  make_key(key_);
  file_ = base::make_memory_file(arena_name(key_).name(), bytes);
  memory_ = base::mapping(file_.get(), bytes);
}

arena_handle emulated_arena::handle() const noexcept {
  return arena_handle::of(emulated_handle{emulated_kind, ::getpid(), file_.get(), 0, size(), {key_[0], key_[1]}});
}

std::unique_ptr<peer_arena> emulated_arena::open(const arena_handle& of) noexcept {
  emulated_handle named;
  if (!of.read(named) || named.kind != emulated_kind || named.pid <= 0 || named.fd < 0) return nullptr;
  const base::unique_fd file = open_named(named);
  if (!file || !is_arena(file.get(), named.bytes)) return nullptr;
  const auto bytes = static_cast<std::size_t>(named.bytes);
  void* const got = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.get(), 0);
  if (got == MAP_FAILED) return nullptr;
  std::unique_ptr<peer_arena> result(new (std::nothrow) mapped_arena(reinterpret_cast<std::uintptr_t>(got), bytes));
  if (result == nullptr) ::munmap(got, bytes);
  return result;
}

}  // namespace ham::transport::cuda
