// Which arguments are looked into for handles of processes that have died.
#include "ham/offload/detail/handle_check.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "ham/offload.hpp"

namespace handle_check_test {

using namespace ham;

using pointer = buffer_ptr<const double>;
using span = offload::buffer_span<double>;

static_assert(detail::holds_memory_handles<pointer> && detail::holds_memory_handles<span>);
static_assert(detail::holds_memory_handles<std::vector<pointer>> && detail::holds_memory_handles<std::array<span, 2>>);
static_assert(!detail::holds_memory_handles<int> && !detail::holds_memory_handles<std::string>);
static_assert(!detail::holds_memory_handles<std::vector<double>>);

struct member {
  double before;
  pointer at;
};
struct owner {
  std::string name;
  member inner;
};
struct fields {
  int before = 0;
  std::vector<span> all;
  HAM_FIELDS(before, all)
};
struct tree {
  int value;
  std::vector<tree> below;
};
static_assert(detail::holds_memory_handles<member> && detail::holds_memory_handles<owner>);
static_assert(detail::holds_memory_handles<fields> && detail::holds_memory_handles<std::pair<int, pointer>>);
static_assert(detail::holds_memory_handles<std::optional<member>>);
static_assert(detail::holds_memory_handles<std::variant<int, pointer>>);
static_assert(detail::holds_memory_handles<std::map<int, pointer>>);
static_assert(!detail::holds_memory_handles<tree>);

TEST(handle_check, finds_the_nodes_of_handles) {
  double here = 0;
  std::vector<node_t> found;
  const auto note = [&](node_t node) { found.push_back(node); };
  const buffer_ptr<double> one(&here, 3), other(&here, 5);
  detail::for_handles_in(one, note);
  detail::for_handles_in(span(other, 1), note);
  detail::for_handles_in(std::vector{one, other}, note);
  detail::for_handles_in(buffer_ptr<double>(), note);
  detail::for_handles_in(7, note);
  EXPECT_EQ(found, (std::vector<node_t>{3, 5, 3, 5}));
  found.clear();
  detail::for_handles_in(owner{"owner", {1, one}}, note);
  fields listed;
  listed.all.emplace_back(other, 1);
  detail::for_handles_in(listed, note);
  detail::for_handles_in(ham::bind([](const buffer_ptr<double>&) {}, one), note);
  detail::for_handles_in(std::variant<int, buffer_ptr<double>>(other), note);
  EXPECT_EQ(found, (std::vector<node_t>{3, 5, 3, 5}));
}

}  // namespace handle_check_test
