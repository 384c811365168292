// The VEO library is found by name; what is none, or lacks a function, is refused with what to do. Each in a process of
// its own, because a library is loaded once.
#include "transport/common/libveo.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "ham/error.hpp"

namespace ham::inline v1::transport::veo {
namespace {

/// Says on stderr why a library is not loaded; ends with 0 if it is.
[[noreturn]] void load(const char* named) {
  ::setenv("HAM_VEO_LIBRARY", named, 1);
  try {
    static_cast<void>(libveo::get());
  } catch (const config_error& why) {
    std::fprintf(stderr, "%s\n", why.what());
    std::_Exit(3);
  }
  std::_Exit(0);
}

class libveo_death_test : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(libveo_death_test, a_library_that_is_not_there_is_said_by_name) {
  EXPECT_EXIT(
      load("/no/such/libveo.so"), testing::ExitedWithCode(3),
      "^cannot load the VEO library /no/such/libveo.so \\(.*\\); install one, or name it in HAM_VEO_LIBRARY\n$");
}

TEST_F(libveo_death_test, a_library_that_is_another_one_lacks_a_function) {
  EXPECT_EXIT(
      load("libm.so.6"), testing::ExitedWithCode(3),
      "^the VEO library libm.so.6 has no function veo_proc_create \\(another version\\); name one of API version 16 "
      "in HAM_VEO_LIBRARY\n$");
}

}  // namespace
}  // namespace ham::transport::veo
