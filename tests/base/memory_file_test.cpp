// Files without a name, and their mappings.
#include "base/memory_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "base/closed_descriptor.hpp"
#include "forbidden_calls.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::base {
namespace {

TEST(memory_file, is_shared_by_its_mappings_and_has_no_name) {
  const unique_fd file = make_memory_file("test", 8192);
  EXPECT_EQ(file_size(file.get()), 8192U);
  const mapping one(file.get(), 8192);
  const mapping two(file.get(), 8192);
  ASSERT_NE(one.data(), two.data());
  std::memcpy(one.data() + 5000, "shared", 7);
  EXPECT_STREQ(reinterpret_cast<const char*>(two.data() + 5000), "shared");
  struct stat about {};
  ASSERT_EQ(::fstat(file.get(), &about), 0);
  EXPECT_EQ(about.st_nlink, 0U);
  EXPECT_NE(::fcntl(file.get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(memory_file, gives_a_range_back_which_reads_as_zeros) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const unique_fd file = make_memory_file("test", 3 * page);
  const mapping here(file.get(), 3 * page);
  std::fill_n(here.data(), here.size(), std::byte{7});
  drop_range(file.get(), page, page);
  struct stat about {};
  ASSERT_EQ(::fstat(file.get(), &about), 0);
  EXPECT_LT(static_cast<std::size_t>(about.st_blocks) * 512, 3 * page);
  EXPECT_EQ(file_size(file.get()), 3 * page);
  EXPECT_EQ(here.data()[page - 1], std::byte{7});
  EXPECT_EQ(here.data()[page], std::byte{0});
  EXPECT_EQ(here.data()[2 * page - 1], std::byte{0});
  EXPECT_EQ(here.data()[2 * page], std::byte{7});
}

TEST(memory_file, can_be_neither_shrunk_nor_sealed_further) {
  const unique_fd file = make_memory_file("test", 8192);
  EXPECT_EQ(::fcntl(file.get(), F_GET_SEALS), F_SEAL_SHRINK | F_SEAL_SEAL);
  EXPECT_EQ(::ftruncate(file.get(), 4096), -1);
  for (const int seal : {F_SEAL_WRITE, F_SEAL_GROW}) {
    EXPECT_EQ(::fcntl(file.get(), F_ADD_SEALS, seal), -1) << "a peer would forbid the others to use it";
    EXPECT_EQ(errno, EPERM);
  }
  EXPECT_EQ(::ftruncate(file.get(), 16384), 0) << "it grows";
}

/// What make_memory_file says in a process where the kernel refuses something.
template <class Forbid>
std::string refusal_of_memory(Forbid forbid) {
  int said[2];
  if (::pipe(said) != 0) return "no pipe";
  const pid_t pid = ::fork();
  if (pid == 0) {
    std::string text = "nothing";
    try {
      if (!forbid()) throw error("no filters here");
      static_cast<void>(make_memory_file("ham-test", 4096));
    } catch (const error& problem) {
      text = problem.what();
    }
    static_cast<void>(!::write(said[1], text.data(), text.size()));
    ::_exit(0);
  }
  ::close(said[1]);
  std::array<char, 1000> text{};
  const ssize_t got = ::read(said[0], text.data(), text.size());
  ::close(said[0]);
  ::waitpid(pid, nullptr, 0);
  return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
}

TEST(memory_file, that_the_kernel_refuses_is_an_error_that_says_why) {
  EXPECT_EQ(refusal_of_memory([] { return test::forbid(SYS_memfd_create); }),
            "cannot create 4096 bytes of shared memory (Operation not permitted); allow the system call memfd_create, "
            "which a filter forbids (seccomp, as of a container or a service)");
  EXPECT_EQ(refusal_of_memory([] { return test::forbid(SYS_ftruncate, EFBIG); }),
            "cannot create 4096 bytes of shared memory (more than the limit of file sizes, which counts here, too); "
            "raise the limit ulimit -f");
  EXPECT_EQ(refusal_of_memory([] { return test::forbid_command(SYS_fcntl, F_ADD_SEALS); }).substr(0, 16),
            "cannot seal 4096")
      << "memory that a peer can take away";
}

TEST(memory_file, grows_under_a_longer_mapping) {
  const unique_fd file = make_memory_file("test", 4096);
  const mapping window(file.get(), 1 << 20);
  ASSERT_EQ(::ftruncate(file.get(), 1 << 20), 0);
  window.data()[(1 << 20) - 1] = std::byte{1};
  EXPECT_EQ(file_size(file.get()), std::size_t{1} << 20);
}

TEST(memory_file, mappings_move) {
  const unique_fd file = make_memory_file("test", 4096);
  mapping one(file.get(), 4096);
  std::byte* const at = one.data();
  mapping two(std::move(one));
  EXPECT_EQ(two.data(), at);
  EXPECT_FALSE(one);  // NOLINT(bugprone-use-after-move)
  two = mapping();
  EXPECT_FALSE(two);
  EXPECT_EQ(file_size(-1), 0U);
  EXPECT_THROW(mapping(-1, 4096), config_error);
}

}  // namespace
}  // namespace ham::base
