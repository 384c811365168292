// The arena of an emulated device, as another process opens it; and what is no arena.
#include "transport/cuda/emulated_arena.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <utility>

namespace ham::inline v1::transport::cuda {
namespace {

constexpr std::size_t arena_bytes = std::size_t{1} << 20;

/// As emulated_arena.cpp lays it out, to be changed by tests.
struct laid_out_handle {
  std::uint32_t kind;
  std::int32_t pid;
  std::int32_t fd;
  std::uint32_t unused;
  std::uint64_t bytes;
  std::uint64_t key[2];
};

template <class Change>
std::unique_ptr<peer_arena> open_changed(const arena_handle& good, Change change) {
  laid_out_handle named{};
  EXPECT_TRUE(good.read(named));
  change(named);
  return emulated_arena::open(arena_handle::of(named));
}

std::byte* bytes_of(const peer_arena& of) { return reinterpret_cast<std::byte*>(of.address()); }

TEST(emulated_arena, is_seen_by_whoever_opens_it) {
  const emulated_arena arena(arena_bytes);
  EXPECT_EQ(arena.size(), arena_bytes);
  std::memset(arena.data(), 5, 1000);
  const auto opened = emulated_arena::open(arena.handle());
  ASSERT_NE(opened, nullptr);
  EXPECT_EQ(opened->bytes(), arena_bytes);
  EXPECT_NE(bytes_of(*opened), arena.data());
  EXPECT_EQ(bytes_of(*opened)[999], std::byte{5});
  arena.data()[arena_bytes - 1] = std::byte{7};
  EXPECT_EQ(bytes_of(*opened)[arena_bytes - 1], std::byte{7}) << "it is the same memory";
}

TEST(emulated_arena, is_opened_by_another_process_and_outlives_its_own) {
  std::array<int, 2> handles{};
  ASSERT_EQ(::pipe2(handles.data(), O_CLOEXEC), 0);
  const pid_t owner = ::fork();
  if (owner == 0) {
    const emulated_arena arena(arena_bytes);
    std::memset(arena.data(), 9, arena_bytes);
    const arena_handle own = arena.handle();
    if (::write(handles[1], &own, sizeof own) == sizeof own) ::pause();
    ::_exit(0);
  }
  arena_handle named;
  ASSERT_EQ(::read(handles[0], &named, sizeof named), static_cast<ssize_t>(sizeof named));
  const auto opened = emulated_arena::open(named);
  ::kill(owner, SIGKILL);
  ::waitpid(owner, nullptr, 0);
  ASSERT_NE(opened, nullptr);
  EXPECT_EQ(bytes_of(*opened)[arena_bytes / 2], std::byte{9});
  EXPECT_EQ(emulated_arena::open(named), nullptr) << "its process has gone";
  ::close(handles[0]);
  ::close(handles[1]);
}

TEST(emulated_arena, cannot_be_written_by_others) {
  const emulated_arena arena(arena_bytes);
  const auto opened = emulated_arena::open(arena.handle());
  ASSERT_NE(opened, nullptr);
  EXPECT_NE(::mprotect(bytes_of(*opened), arena_bytes, PROT_READ | PROT_WRITE), 0);
}

TEST(emulated_arena, is_refused_under_a_handle_that_is_not_its_own) {
  const emulated_arena arena(arena_bytes);
  const emulated_arena other(arena_bytes);
  const arena_handle good = arena.handle();
  EXPECT_NE(open_changed(good, [](laid_out_handle&) {}), nullptr);
  EXPECT_EQ(emulated_arena::open({}), nullptr);
  EXPECT_EQ(emulated_arena::open(arena_handle::of(std::uint64_t{1})), nullptr);
  EXPECT_EQ(open_changed(good, [](laid_out_handle& one) { ++one.kind; }), nullptr);
  EXPECT_EQ(open_changed(good, [](laid_out_handle& one) { one.pid = -one.pid; }), nullptr);
  EXPECT_EQ(open_changed(good, [](laid_out_handle& one) { one.pid = 1; }), nullptr);
  EXPECT_EQ(open_changed(good, [](laid_out_handle& one) { one.fd = -1; }), nullptr);
  EXPECT_EQ(open_changed(good, [](laid_out_handle& one) { one.fd = 1'000'000; }), nullptr);
  EXPECT_EQ(open_changed(good, [](laid_out_handle& one) { one.key[1] ^= 1; }), nullptr);
  EXPECT_EQ(open_changed(good, [](laid_out_handle& one) { one.bytes = 0; }), nullptr);
  EXPECT_EQ(open_changed(good, [](laid_out_handle& one) { one.bytes = arena_bytes + 1; }), nullptr);
  laid_out_handle beside{};
  ASSERT_TRUE(other.handle().read(beside));
  EXPECT_EQ(open_changed(good, [&](laid_out_handle& one) { one.fd = beside.fd; }), nullptr) << "another arena";
}

/// Opens what a descriptor refers to, under a name that a handle can name.
std::unique_ptr<peer_arena> open_descriptor(int fd) {
  laid_out_handle named{0x656d756c, ::getpid(), fd, 0, 4096, {1, 2}};
  return emulated_arena::open(arena_handle::of(named));
}

TEST(emulated_arena, is_not_what_can_become_shorter_or_is_no_memory) {
  constexpr const char* name = "ham-arena-00000000000000010000000000000002";
  const base::unique_fd sealed(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(sealed.get(), 8192), 0);
  EXPECT_EQ(open_descriptor(sealed.get()), nullptr) << "it can become shorter";
  ASSERT_EQ(::fcntl(sealed.get(), F_ADD_SEALS, F_SEAL_SHRINK), 0);
  EXPECT_NE(open_descriptor(sealed.get()), nullptr);
  const base::unique_fd unnamed(::memfd_create("something", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(unnamed.get(), 8192), 0);
  ASSERT_EQ(::fcntl(unnamed.get(), F_ADD_SEALS, F_SEAL_SHRINK), 0);
  EXPECT_EQ(open_descriptor(unnamed.get()), nullptr);
  const base::unique_fd device(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(open_descriptor(device.get()), nullptr);
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
  EXPECT_EQ(open_descriptor(pipe[0]), nullptr) << "and nobody waits for its other end";
  ::close(pipe[0]);
  ::close(pipe[1]);
}

}  // namespace
}  // namespace ham::transport::cuda
