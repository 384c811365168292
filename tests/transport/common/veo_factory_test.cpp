// The application of Vector Engines, and what its targets are told.
#include "transport/common/veo_factory.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

namespace ham::inline v1::transport::veo {
namespace {

TEST(application_library, is_named_or_lies_beside_the_program) {
  ::unsetenv("HAM_VEO_APPLICATION");
  EXPECT_EQ(application_library(), std::filesystem::read_symlink("/proc/self/exe").string() + ".ve.so");
  ::setenv("HAM_VEO_APPLICATION", "/somewhere/app.ve.so", 1);
  EXPECT_EQ(application_library(), "/somewhere/app.ve.so");
  ::unsetenv("HAM_VEO_APPLICATION");
}

TEST(welcome_at, takes_those_of_this_release) {
  welcome said;
  said.node = 1;
  said.nodes = 2;
  EXPECT_EQ(&welcome_at(reinterpret_cast<std::uintptr_t>(&said)), &said);
  said.version = welcome::protocol + 1;
  EXPECT_THROW(static_cast<void>(welcome_at(reinterpret_cast<std::uintptr_t>(&said))), config_error);
  said.version = welcome::protocol;
  said.node = 0;
  EXPECT_THROW(static_cast<void>(welcome_at(reinterpret_cast<std::uintptr_t>(&said))), config_error);
}

}  // namespace
}  // namespace ham::transport::veo
