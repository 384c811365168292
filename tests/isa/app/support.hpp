// What the suite shares. It runs against whatever targets HAM_NODES names; each check is made with each of them.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <string>

#include "ham/offload.hpp"

namespace ham::inline v1::isa {

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

/// How a node represents what differs between instruction sets.
struct representation {
  bool little_endian = std::endian::native == std::endian::little;
  std::int32_t long_double_digits = std::numeric_limits<long double>::digits;
  HAM_FIELDS(little_endian, long_double_digits)
};
inline representation own_representation() { return {}; }
[[nodiscard]] inline representation representation_of(node_t node) {
  return node == 0 ? own_representation() : offload::sync(node, fn<&own_representation>);
}
[[nodiscard]] inline bool same_byte_order(node_t a, node_t b) {
  return representation_of(a).little_endian == representation_of(b).little_endian;
}
[[nodiscard]] inline bool same_long_double(node_t a, node_t b) {
  return representation_of(a).long_double_digits == representation_of(b).long_double_digits;
}

/// What is copied as its bytes: these members lie alike wherever the byte order is the same.
struct sample {
  double value = 0;
  std::int32_t number = 0;
  std::uint8_t flag = 0;
  bool operator==(const sample&) const = default;
};

inline void expect_in(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text << "\ndoes not say: " << part;
}

}  // namespace ham::isa
