// What a process without a device says of one.
#include <gtest/gtest.h>

#include "ham/device/offloading.hpp"
#include "runtime/device_calls.hpp"

namespace ham::inline v1::device_access_functions {
int anywhere(int);
}  // namespace ham::device_access_functions

HAM_DEVICE_FUNCTION(ham::device_access_functions::anywhere, thread)

namespace ham::inline v1::device_access_functions {
int anywhere(int value) { return value; }
}  // namespace ham::device_access_functions

namespace ham::inline v1::detail {
namespace {

using device_access_functions::anywhere;

TEST(device_access, of_a_process_without_a_device_lacks_nothing) {
  EXPECT_EQ(device_calls::of_this_process(), nullptr);
  EXPECT_TRUE(device_has(device::detail::declared_function<decltype(&anywhere), &anywhere>::entry()));
  device::detail::fail_device({});
  device::detail::answer_device({UINT32_MAX, UINT32_MAX, 0}, nullptr, 0);
}

}  // namespace
}  // namespace ham::detail
