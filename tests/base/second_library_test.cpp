// Which loaded files are a second copy of this library; tests/plugin loads one.
#include "base/second_library.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

using ham::base::second_library;

TEST(second_library, is_another_file_of_that_name) {
  const std::vector<std::string> loaded{"", "/lib/libc.so.6", "/usr/lib/libham.so.0.1", "/usr/lib/libham_tcp.so",
                                        "/opt/lib/libham.so.0.2"};
  EXPECT_EQ(second_library("/usr/lib/libham.so.0.1", loaded), "/opt/lib/libham.so.0.2");
  EXPECT_EQ(second_library("/opt/lib/libham.so.0.2", loaded), "/usr/lib/libham.so.0.1");
  EXPECT_EQ(second_library("/usr/lib/libham.so.0.1", std::span(loaded).first(4)), "");
}

TEST(second_library, does_not_concern_those_that_contain_this_one) {
  const std::vector<std::string> loaded{"/usr/lib/libham.so.0.1", "/usr/lib/libhammer.so", "libham.so"};
  EXPECT_EQ(second_library("/usr/lib/libveo.so.1", loaded), "");
  EXPECT_EQ(second_library("./program", loaded), "");
  EXPECT_EQ(second_library("/usr/lib/libham.so.0.1", std::span(loaded).first(2)), "");
  EXPECT_EQ(second_library("/usr/lib/libham.so.0.1", loaded), "libham.so");
}

TEST(second_library, this_process_has_one) { EXPECT_NO_THROW(ham::base::expect_one_library()); }

}  // namespace
