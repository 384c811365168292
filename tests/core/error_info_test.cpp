// Exceptions as kinds and fields.
#include "ham/error_info.hpp"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

namespace error_info_test {

using namespace ham;

template <class Error, class... Args>
error_info info_of(Args&&... args) {
  return describe_error(std::make_exception_ptr(Error(std::forward<Args>(args)...)));
}

TEST(error_info, nothing_is_none) {
  const error_info nothing = describe_error(nullptr);
  EXPECT_FALSE(nothing);
  EXPECT_EQ(nothing.kind, error_kind::none);
}

TEST(error_info, has_the_kind_of_each_class) {
  EXPECT_EQ(info_of<config_error>("x").kind, error_kind::config);
  EXPECT_EQ(info_of<protocol_error>("x").kind, error_kind::protocol);
  EXPECT_EQ(info_of<buffer_error>("x").kind, error_kind::buffer);
  EXPECT_EQ(info_of<object_error>("x").kind, error_kind::object);
  EXPECT_EQ(info_of<error>("x").kind, error_kind::other_of_ham);
  EXPECT_EQ(info_of<std::bad_alloc>().kind, error_kind::out_of_memory);
  EXPECT_EQ(describe_error(std::make_exception_ptr(1)).kind, error_kind::foreign);
  const error_info standard = info_of<std::out_of_range>("beyond");
  EXPECT_EQ(standard.kind, error_kind::other_standard);
  EXPECT_EQ(standard.type, "std::out_of_range");
  EXPECT_EQ(standard.message, "beyond");
  EXPECT_TRUE(standard);
}

TEST(error_info, has_the_fields_of_those_that_have_some) {
  EXPECT_EQ(info_of<call_error>("x", call_error_reason::no_such_node).reason, call_error_reason::no_such_node);
  EXPECT_EQ(info_of<call_error>("x", call_error_reason::no_such_node).outcome, call_outcome::not_run);
  EXPECT_EQ(info_of<call_error>("x", call_error_reason::too_long).outcome, call_outcome::may_have_run);
  EXPECT_EQ(info_of<deadline_exceeded>("x", call_outcome::not_run).outcome, call_outcome::not_run);
  node_failure::details details;
  details.node = 3;
  details.outcome = call_outcome::may_have_run;
  const error_info lost = info_of<node_failure>("x", details);
  EXPECT_EQ(lost.kind, error_kind::node);
  EXPECT_EQ(lost.node, 3);
  EXPECT_EQ(lost.outcome, call_outcome::may_have_run);
  const error_info remote = info_of<remote_error>("x", remote_error::origin{2, "h", 1, "f", "app::trouble", "m"});
  EXPECT_EQ(remote.kind, error_kind::remote);
  EXPECT_EQ(remote.node, 2);
  EXPECT_EQ(remote.type, "app::trouble");
}

TEST(error_info, every_value_has_a_name) {
  for (int i = 0; i <= static_cast<int>(error_kind::foreign); ++i)
    EXPECT_STRNE(to_string(static_cast<error_kind>(i)), "unknown");
  for (int i = 0; i <= static_cast<int>(call_error_reason::wrong_size); ++i)
    EXPECT_STRNE(to_string(static_cast<call_error_reason>(i)), "unknown");
}

}  // namespace error_info_test
