// What the suite shares. It runs against whatever targets HAM_NODES names; each check is made with each of them.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "ham/offload.hpp"

namespace ham::isa {

/// The number of targets; at least one.
[[nodiscard]] inline node_t last_node() { return static_cast<node_t>(offload::num_nodes()) - 1; }

/// Calls `check(node)` for each target, and says in a failure which one it was.
template <class Check>
void with_each_target(Check check) {
  ASSERT_GE(last_node(), 1) << "HAM_NODES names no target";
  for (node_t node = 1; node <= last_node(); ++node) {
    const auto descriptor = offload::get_node_descriptor(node);
    SCOPED_TRACE("node " + std::to_string(node) + ", " + descriptor.isa() + " through " + descriptor.transport());
    check(node);
  }
}

/// Whether a target computes on the same data layout as this host, seen from the names of the instruction sets.
[[nodiscard]] inline bool same_isa(node_t node) {
  return offload::get_node_descriptor(node).isa() == offload::get_node_descriptor(0).isa();
}

inline void expect_in(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text << "\ndoes not say: " << part;
}

}  // namespace ham::isa
