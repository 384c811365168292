// What programs are told of the transports.
#include <gtest/gtest.h>

#include <algorithm>

#include "ham/offload/runtime.hpp"
#include "ham/offload/transports.hpp"

namespace ham::inline v1 {
namespace {

TEST(list_transports, says_why_one_is_not_available) {
  for (const transport_info& one : list_transports()) {
    EXPECT_TRUE(one.available || !one.remark.empty()) << one.name;
    const module_state same = find_module(one.name);
    EXPECT_EQ(same.available, one.available) << one.name;
    EXPECT_EQ(same.remark, one.remark);
    EXPECT_EQ(same.version, one.version);
  }
}

TEST(list_transports, has_those_that_users_can_write) {
  const auto all = list_transports();
  const auto find = [&](const char* name) {
    return std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
  };
  ASSERT_NE(find("shm"), all.end());
  EXPECT_TRUE(find("shm")->available);
  EXPECT_EQ(find("shm")->trial, "shm:1");
  EXPECT_TRUE(find("shm")->syntax.starts_with("shm")) << find("shm")->syntax;
  EXPECT_EQ(find("parent"), all.end()) << "that is for spawned processes";
}

TEST(find_module, of_no_transport_says_so) {
  const module_state none = find_module("smoke_signals");
  EXPECT_FALSE(none.available);
  EXPECT_NE(none.remark.find("there is no transport smoke_signals"), std::string::npos) << none.remark;
}

}  // namespace
}  // namespace ham
