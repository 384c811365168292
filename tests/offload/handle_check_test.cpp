// Which arguments are looked into for handles of processes that have died.
#include "ham/offload/detail/handle_check.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
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
struct tree_of_handles {
  std::vector<tree_of_handles> below;
  pointer at;
};
/// What crosses of a class that has elements are its fields, or its members.
struct with_elements {
  std::array<double, 2> values{};
  pointer home{};
  [[nodiscard]] auto begin() const { return values.begin(); }
  [[nodiscard]] auto end() const { return values.end(); }
};
class without_handles {
 public:
  HAM_FIELDS(id_)
  [[nodiscard]] auto begin() const { return cached_.begin(); }
  [[nodiscard]] auto end() const { return cached_.end(); }

 private:
  int id_ = 0;
  std::vector<pointer> cached_;
};
/// As a tuple, but not one of the standard library.
struct window {
  pointer at;
  int size;
};
template <std::size_t Index>
auto get(const window& of) {
  if constexpr (Index == 0)
    return of.at;
  else
    return of.size;
}

}  // namespace handle_check_test

template <>
struct std::tuple_size<handle_check_test::window> : std::integral_constant<std::size_t, 2> {};
template <>
struct std::tuple_element<0, handle_check_test::window> : std::type_identity<handle_check_test::pointer> {};
template <>
struct std::tuple_element<1, handle_check_test::window> : std::type_identity<int> {};

namespace handle_check_test {

/// Each is in two of the layer before: all ways through them are too many to be gone.
template <int Depth>
struct layer {
  std::vector<layer<Depth - 1>> one;
  std::optional<layer<Depth - 1>> other;
  HAM_FIELDS(one, other)
};
template <>
struct layer<0> {
  std::vector<pointer> all;
  HAM_FIELDS(all)
};

static_assert(detail::holds_memory_handles<member> && detail::holds_memory_handles<owner>);
static_assert(detail::holds_memory_handles<fields> && detail::holds_memory_handles<std::pair<int, pointer>>);
static_assert(detail::holds_memory_handles<std::optional<member>>);
static_assert(detail::holds_memory_handles<std::variant<int, pointer>>);
static_assert(detail::holds_memory_handles<std::map<int, pointer>>);
static_assert(!detail::holds_memory_handles<tree> && detail::holds_memory_handles<tree_of_handles>);
static_assert(detail::holds_memory_handles<with_elements> && !detail::holds_memory_handles<without_handles>);
static_assert(detail::holds_memory_handles<layer<20>>);
static_assert(!detail::holds_memory_handles<window> && !detail::holds_memory_handles<std::vector<window>>);
static_assert(!detail::holds_memory_handles<std::vector<bool>> && !detail::holds_memory_handles<std::tuple<int[2]>>);

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
  found.clear();
  detail::for_handles_in(tree_of_handles{{{{}, one}, {{{{}, one}}, other}}, {}}, note);
  detail::for_handles_in(with_elements{{1, 2}, other}, note);
  detail::for_handles_in(window{one, 1}, note);
  detail::for_handles_in(without_handles(), note);
  EXPECT_EQ(found, (std::vector<node_t>{3, 3, 5, 5}));
  found.clear();
  detail::append_nodes_of_handles(std::vector{one, one, other, one}, found);
  EXPECT_EQ(found, (std::vector<node_t>{3, 5, 3}));
}

}  // namespace handle_check_test
