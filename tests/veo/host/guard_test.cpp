// C functions return errors where C++ throws.
#include "veo/host/guard.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace ham::inline v1::veo {
namespace {

TEST(veo_guard, gives_what_the_work_gives) {
  errno = 7;
  EXPECT_EQ(guarded(-1, [] { return 5; }), 5);
  EXPECT_EQ(errno, 7) << "success leaves it alone";
}

TEST(veo_guard, memory_that_is_not_there_is_enomem_and_says_nothing) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(guarded(-1, []() -> int { throw std::bad_alloc(); }), -1);
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(veo_guard, other_problems_are_eio_and_said) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(guarded<const char*>("none", []() -> const char* { throw std::runtime_error("the helper is gone"); }),
            std::string("none"));
  EXPECT_EQ(errno, EIO);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("ERROR: the helper is gone\n"), std::string::npos);
}

TEST(veo_guard, a_failure_has_its_error) {
  EXPECT_EQ(fail(EINVAL, -3), -3);
  EXPECT_EQ(errno, EINVAL);
}

}  // namespace
}  // namespace ham::veo
