// Where modules are looked for, and what is said when none is there.
#include "transport/common/module_file.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "base/settings.hpp"

namespace ham::inline v1::transport {
namespace {

class module_file : public testing::Test {
 protected:
  void TearDown() override { ::unsetenv("HAM_MODULE_PATH"); }
  static std::string problem_of(const std::string& file) {
    try {
      static_cast<void>(find_in_module("transport test", file, "entry"));
    } catch (const config_error& problem) {
      return problem.what();
    }
    return "none";
  }
};

TEST_F(module_file, that_is_nowhere_is_told_with_all_places) {
  ::setenv("HAM_MODULE_PATH", "/first/folder:/second/folder", 1);
  const std::string problem = problem_of("libham_absent.so");
  EXPECT_TRUE(
      problem.starts_with("the transport test is not there (module libham_absent.so; looked in /first/folder, "
                          "/second/folder, "))
      << problem;
  EXPECT_TRUE(problem.ends_with("install it, or name its folder in HAM_MODULE_PATH")) << problem;
}

TEST_F(module_file, is_looked_for_in_absolute_folders_only) {
  for (const char* const path : {"modules", "/first:modules", "../x:/y"}) {
    ::setenv("HAM_MODULE_PATH", path, 1);
    EXPECT_NE(problem_of("libham_absent.so").find("relative folder"), std::string::npos) << path;
  }
  ::setenv("HAM_MODULE_PATH", "::", 1);
  EXPECT_EQ(problem_of("libham_absent.so").find("relative folder"), std::string::npos) << "empty parts are none";
}

TEST_F(module_file, that_is_no_library_says_so) {
  char folder[] = "/tmp/ham-module-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  std::ofstream(std::string(folder) + "/libham_absent.so") << "no library";
  ::setenv("HAM_MODULE_PATH", folder, 1);
  EXPECT_NE(problem_of("libham_absent.so").find(std::string(folder) + "/libham_absent.so"), std::string::npos);
  std::filesystem::remove_all(folder);
}

TEST_F(module_file, may_lack_the_symbol) {
  EXPECT_EQ(find_in_module("C library", "libc.so.6", "ham_no_such_symbol"), nullptr);
  EXPECT_NE(find_in_module("C library", "libc.so.6", "malloc"), nullptr);
}

}  // namespace
}  // namespace ham::transport
