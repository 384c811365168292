// Whose files may be loaded; what privileged programs refuse is tested across processes (tests/privileges).
#include "base/privileges.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace ham::inline v1::base {
namespace {

TEST(privileges, this_program_has_none) {
  EXPECT_FALSE(privileged());
  EXPECT_NO_THROW(refuse_if_privileged("this"));
}

TEST(privileges, a_file_is_root_s_own_only_with_all_folders_above) {
  char folder[] = "/tmp/ham-privileges-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  const std::string file = std::string(folder) + "/file";
  std::ofstream(file) << "code";
  EXPECT_FALSE(only_root_can_replace(file)) << "anybody may write to /tmp";
  std::filesystem::remove_all(folder);
  EXPECT_FALSE(only_root_can_replace("relative"));
  EXPECT_FALSE(only_root_can_replace(""));
  EXPECT_FALSE(only_root_can_replace("/absent/file"));
  char shell[PATH_MAX] = {};
  ASSERT_NE(::realpath("/bin/sh", shell), nullptr);
  struct stat root {};
  ASSERT_EQ(::stat("/", &root), 0);
  if (root.st_uid == 0) {
    EXPECT_TRUE(only_root_can_replace(shell)) << shell;
  }
}

}  // namespace
}  // namespace ham::base
