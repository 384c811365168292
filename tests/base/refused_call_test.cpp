// What is said of a system call that was refused: a limit, or a filter.
#include "base/refused_call.hpp"

#include <gtest/gtest.h>

namespace ham::inline v1::base {
namespace {

TEST(refused_call, advises_unless_a_filter_answered) {
  errno = EMFILE;
  const std::string limit = refused_call("memfd_create", "raise the limit");
  EXPECT_EQ(limit, std::string(" (") + std::strerror(EMFILE) + "); raise the limit");
  for (const int error : {EPERM, ENOSYS}) {
    errno = error;
    const std::string filtered = refused_call("memfd_create", "raise the limit");
    EXPECT_NE(filtered.find(std::strerror(error)), std::string::npos);
    EXPECT_NE(filtered.find("allow the system call memfd_create"), std::string::npos) << filtered;
    EXPECT_EQ(filtered.find("raise the limit"), std::string::npos);
  }
}

}  // namespace
}  // namespace ham::base
