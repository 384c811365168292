// Every transport of the list has joined the suite.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "compose/transports.hpp"
#include "conformance/subject.hpp"
#include "transport/starting.hpp"

namespace ham::inline v1::transport::conformance {
namespace {

TEST(list, every_transport_has_joined_the_suite) {
  for (const factory* const one : detail::transports()) {
    if (one->as_launched() != nullptr) continue;  // tests/mpi/conformance.cpp, under a launcher
    if (one->as_starting() != nullptr && &one->as_starting()->host_factory() != one) continue;  // another one's
    if (one->name() == "cuda") continue;  // cuda-emulated with another device, which tests need no GPU for
    std::string name(one->name());
    std::replace(name.begin(), name.end(), '-', '_');  // as tests may be called
    EXPECT_TRUE(subjects().contains(name)) << name;
  }
}

}  // namespace
}  // namespace ham::transport::conformance
