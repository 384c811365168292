// Descriptors of the library never have the numbers of the standard ones.
#include "base/unique_fd.hpp"

#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include "base/closed_descriptor.hpp"

using ham::base::unique_fd;
using ham::test::closed_descriptor;

namespace {

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

}  // namespace

TEST(unique_fd, is_none_of_the_standard_descriptors) {
  int numbers[3] = {};
  bool free_again = false;
  {
    const closed_descriptor in(STDIN_FILENO);
    const unique_fd constructed(::eventfd(0, EFD_CLOEXEC));
    unique_fd set;
    set.reset(::eventfd(0, EFD_CLOEXEC));
    unique_fd assigned;
    assigned = unique_fd(::eventfd(0, EFD_CLOEXEC));
    numbers[0] = constructed.get();
    numbers[1] = set.get();
    numbers[2] = assigned.get();
    free_again = !is_open(STDIN_FILENO);
  }
  for (const int number : numbers) EXPECT_GT(number, STDERR_FILENO);
  EXPECT_TRUE(free_again);
}

TEST(unique_fd, that_was_moved_still_closes_on_exec) {
  int flags = 0;
  {
    const closed_descriptor in(STDIN_FILENO);
    const unique_fd moved(::eventfd(0, EFD_CLOEXEC));
    flags = ::fcntl(moved.get(), F_GETFD);
  }
  EXPECT_EQ(flags, FD_CLOEXEC);
}
