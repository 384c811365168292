// Aggregates that cross member by member although nothing is said of them: which do, what is on the wire, hostile
// bytes.
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "codec_helpers.hpp"
#include "ham/msg/codec.hpp"

namespace aggregate_test {

struct person {
  std::string name;
  double height = 0;
  bool operator==(const person&) const = default;
};
struct point {
  double x, y;
  bool operator==(const point&) const = default;
};
struct nested {
  point at;
  person who;
  std::vector<person> others;
  bool operator==(const nested&) const = default;
};
struct arrays {
  std::string names[2][2];
  int numbers[3];
  point corners[2];
  std::array<std::string, 2> more;
  bool operator==(const arrays&) const = default;
};
struct library_types {
  std::optional<std::string> maybe;
  std::tuple<std::string> one;
  std::variant<int, std::string> either;
  std::map<std::string, std::vector<int>> table;
  std::pair<std::string, bool> pair;
  bool operator==(const library_types&) const = default;
};
struct packed {
  unsigned low : 4 = 0;
  unsigned high : 12 = 0;
  std::string text;
  bool operator==(const packed&) const = default;
};
struct with_default {
  std::string text = "set";
  int number = 7;
  bool operator==(const with_default&) const = default;
};
struct constant {
  const int id;
  std::string text;
  bool operator==(const constant&) const = default;
};
template <class First, class Second>
struct generic {
  First first;
  Second second;
  bool operator==(const generic&) const = default;
};
struct tree {
  int value = 0;
  std::vector<tree> children;
  bool operator==(const tree&) const = default;
};
struct second_of_two;
struct first_of_two {
  std::string text;
  std::vector<second_of_two> others;
};
struct second_of_two {
  std::vector<first_of_two> others;
};
struct bad_tree {
  std::vector<bad_tree> children;
  std::unique_ptr<int> owner;
};

// Has neither a default constructor nor members that anyone sees.
class celsius {
 public:
  explicit celsius(double value) : value_(value) {}
  double value() const { return value_; }
  bool operator==(const celsius&) const = default;

 private:
  double value_;
};
struct measured {
  std::string place;
  celsius temperature;
  bool operator==(const measured&) const = default;
};
struct estimated {
  std::string place;
  celsius temperature = celsius(20);
};

struct thirty_two {
  std::string m1;
  char m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25,
      m26, m27, m28, m29, m30, m31;
  int m32;
  bool operator==(const thirty_two&) const = default;
};
struct thirty_three {
  thirty_two all_but_one;
  std::string m1;
  char m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25,
      m26, m27, m28, m29, m30, m31, m32;
};

struct derived : person {
  int more = 0;
};
struct empty_base {};
struct tagged : empty_base {
  std::string text;
};
struct with_pointer {
  std::string text;
  int* pointer;
};
struct with_reference {
  std::string text;
  const std::string& other;
};
struct with_view {
  std::string text;
  std::string_view view;
};
struct range {
  const double* first;
  std::size_t count;
};
struct with_range {
  std::string text;
  range values;
};
struct with_ranges {
  std::string text;
  std::vector<range> values;
};
struct with_owner {
  std::string text;
  std::unique_ptr<int> owner;
};
struct with_union {
  std::string text;
  union {
    int number;
    double value;
  };
};
struct with_mutex {
  std::string text;
  std::mutex lock;
};
struct holds_bad {
  int number;
  with_owner inner;
};
struct forbidden {
  std::string text;
};
struct trusted {
  void* device;
};
struct with_trusted {
  std::string text;
  trusted address;
};

}  // namespace aggregate_test

template <>
struct ham::codec<aggregate_test::celsius> {
  static constexpr std::size_t fixed_size = 8;
  static void write(msg::writer& to, const aggregate_test::celsius& value) { msg::encode(to, value.value()); }
  static aggregate_test::celsius read(msg::reader& from) { return aggregate_test::celsius(msg::decode<double>(from)); }
};
template <>
struct ham::is_bitwise_copyable<aggregate_test::forbidden> : std::false_type {};
template <>
struct ham::is_bitwise_copyable<aggregate_test::trusted> : std::true_type {};

namespace aggregate_test {

using namespace codec_test;
using namespace ham::msg;

TEST(codec_aggregate, members_cross_without_a_list) {
  expect_crosses(person{"Ada", 1.65});
  expect_crosses(std::vector<person>{{"Ada", 1.65}, {"Grace", 1.57}});
  expect_crosses(nested{{1, 2}, {"Ada", 1.65}, {{"Grace", 1.57}}});
  EXPECT_EQ(encoded(person{"Ada", 1.65}).size(), 8U + 3 + 8);
}

TEST(codec_aggregate, arrays_are_members) {
  expect_crosses(arrays{{{"a", "b"}, {"c", "d"}}, {1, 2, 3}, {{1, 2}, {3, 4}}, {"e", "f"}});
}

TEST(codec_aggregate, types_of_the_library_are_members) {
  expect_crosses(library_types{"text", {"one"}, "either", {{"a", {1, 2}}}, {"pair", true}});
  expect_crosses(library_types{});
}

TEST(codec_aggregate, bit_fields_constants_and_defaults) {
  packed bits;
  bits.low = 9;
  bits.high = 4000;
  bits.text = "bits";
  expect_crosses(bits);
  expect_crosses(constant{5, "five"});
  expect_crosses(with_default{"other", 8});
}

TEST(codec_aggregate, members_without_default_constructor) {
  expect_crosses(measured{"Bonn", celsius(18.5)});
  // A default here is no way to tell that there is a second member.
  EXPECT_EQ(round_trip(estimated{"Bonn", celsius(3)}).temperature.value(), 3);
}

TEST(codec_aggregate, templates_and_local_classes) {
  expect_crosses(generic<std::string, int>{"a", 1});
  expect_crosses(generic<generic<std::string, bool>, std::vector<std::string>>{{"a", true}, {"b"}});
  struct local {
    std::string text;
    bool operator==(const local&) const = default;
  };
  expect_crosses(local{"here"});
}

TEST(codec_aggregate, up_to_thirty_two_members) {
  thirty_two all{};
  all.m1 = "first";
  all.m31 = 'x';
  all.m32 = 32;
  expect_crosses(all);
  static_assert(!crosses<thirty_three>);
}

TEST(codec_aggregate, containing_themselves) {
  tree top{1, {{2, {}}, {3, {{4, {}}}}}};
  expect_crosses(top);
  first_of_two one{"a", {{{{"b", {}}}}}};
  EXPECT_EQ(round_trip(one).others.at(0).others.at(0).text, "b");

  tree deep;
  for (std::size_t level = 0; level < max_nesting; ++level) {
    tree above;
    above.children.push_back(std::move(deep));
    deep = std::move(above);
  }
  EXPECT_THROW((void)encoded_size(deep), ham::error);
}

TEST(codec_aggregate, what_cannot_cross) {
  static_assert(!crosses<derived> && !crosses<tagged>);
  static_assert(!crosses<with_pointer> && !crosses<with_reference> && !crosses<with_view> && !crosses<with_owner>);
  static_assert(!crosses<with_range> && !crosses<with_ranges>);
  static_assert(!crosses<with_union> && !crosses<with_mutex> && !crosses<holds_bad>);
  static_assert(!crosses<forbidden>, "is_bitwise_copyable says so");
  static_assert(!crosses<std::vector<with_owner>>);
}

TEST(codec_aggregate, pointers_that_mean_the_same_everywhere) {
  int here = 0;
  EXPECT_EQ(round_trip(with_trusted{"a", {&here}}).address.device, &here);
}

TEST(codec_aggregate, what_is_copied_as_bytes_still_is) {
  static_assert(detail::kind_of<point>() == detail::codec_kind::bitwise);
  static_assert(detail::kind_of<range>() == detail::codec_kind::bitwise, "with a warning");
  static_assert(detail::kind_of<person>() == detail::codec_kind::aggregate);
}

TEST(codec_aggregate, the_layout_names_the_members) {
  EXPECT_EQ(layout_text<person>(), "fields<aggregate_test::person:str,f8>");
  EXPECT_EQ((layout_text<generic<std::string, int>>()), "fields<aggregate_test::generic[std::string;int]:str,i4>");
  EXPECT_EQ(layout_text<tree>(), "fields<aggregate_test::tree:i4,vec<fields<aggregate_test::tree>>>");
  EXPECT_EQ(layout_text<arrays>(), "fields<aggregate_test::arrays:array<array<str,2>,2>,array<i4,3>,array<" +
                                       layout_text<point>() + ",2>,array<str,2>>");
  EXPECT_TRUE(layout_is_portable(layout_text<person>()));
}

TEST(codec_aggregate, a_list_of_the_same_members_is_the_same_on_the_wire) {
  struct listed {
    std::string name;
    double height = 0;
    HAM_FIELDS(name, height)
  };
  EXPECT_EQ(encoded(listed{"Ada", 1.65}), encoded(person{"Ada", 1.65}));
}

}  // namespace aggregate_test
