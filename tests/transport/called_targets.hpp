// What the transports to Vector Engines have in common before they are connected.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "transport/common/veo_welcome.hpp"
#include "transport/groups.hpp"
#include "transport/starting.hpp"

namespace ham::inline v1::test {

inline void expect_counts_only(const std::string& name) {
  EXPECT_EQ(group_of(name, name).count, 1U);
  EXPECT_EQ(group_of(name, name + ":2").count, 2U);
  EXPECT_NE(refusal_of(name, name + "@1").find("can be given cores"), std::string::npos);
  EXPECT_NE(refusal_of(name, name + ":1/read=1").find("left over"), std::string::npos);
}

/// A target that is called is this transport's if its ring is in `own`, and not if it is in `other`.
inline void expect_targets_called_with(const std::string& name, transport::veo::ring_place own,
                                       transport::veo::ring_place other) {
  const transport::starting_factory& by = *transport_named(name).as_starting();
  EXPECT_FALSE(by.starts_own_program()) << "engines have an application of their own";
  transport::veo::welcome said;
  said.node = 3;
  said.host = 2;
  said.nodes = 5;
  said.place = own;
  const auto side = by.make_called_target(reinterpret_cast<std::uintptr_t>(&said));
  ASSERT_NE(side, nullptr);
  EXPECT_EQ(side->self(), 3);
  EXPECT_EQ(side->host(), 2);
  EXPECT_EQ(side->nodes(), 5U);
  said.place = other;
  EXPECT_EQ(by.make_called_target(reinterpret_cast<std::uintptr_t>(&said)), nullptr);
  said.version = 0;
  EXPECT_THROW(static_cast<void>(by.make_called_target(reinterpret_cast<std::uintptr_t>(&said))), config_error);
}

}  // namespace ham::test
