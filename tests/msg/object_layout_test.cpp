// What is found out about the members of a class, and when it is not tried.
#include "ham/msg/object_layout.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bitset>
#include <complex>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "ham/msg/codec.hpp"

namespace object_test {

struct point {
  double x;
  std::int32_t n;
};
struct arrays {
  char first;
  double values[3];
  point inner;
  point more[2];
  std::int16_t grid[2][3];
};
struct bit_fields {
  unsigned a : 20;
  unsigned b : 4;
  unsigned char c;
  std::uint64_t d;
};
struct as_if_whole {  // as many bytes as if `a` were no bit-field
  std::uint64_t a : 20;
  std::uint32_t b;
  std::uint32_t c;
};
enum class small : std::int16_t { one };
struct others {
  small number;
  bool truth;
  std::array<float, 2> pair;
  std::complex<double> z;
  void* pointer;
};
struct with_class {
  std::optional<int> maybe;
  std::int16_t after;
};
struct long_one {
  long double value;
};
struct constant {
  const int a;
  int b = 7;
};
struct one {
  int a;
};
struct nested {
  one a;
  one b;
};
struct with_union {
  int kind;
  union {
    int number;
    double value;
  };
};
struct derived : one {
  int b;
};
struct referring {
  int& to;
};
struct constructed {
  constructed() : a(0) {}
  int a;
};
struct with_tuple {
  with_tuple() = default;
  std::tuple<int, double> members;
};
struct many {
  char name[100];
};

}  // namespace object_test

namespace {

using namespace object_test;

template <class T>
std::string described() {
  std::string text;
  ham::msg::detail::append_object<T>(text);
  return text;
}

constexpr bool little = std::endian::native == std::endian::little;

TEST(object_layout, members_and_their_places) {
  EXPECT_EQ(described<point>(), "object<object_test::point,16,8:f8@0,i4@8>");
  const std::string point_text = described<point>();
  EXPECT_EQ(described<arrays>(), "object<object_test::arrays,96,8:char@0,array<f8,3>@8," + point_text + "@32,array<" +
                                     point_text + ",2>@48,array<array<i2,3>,2>@80>");
  EXPECT_EQ(described<nested>(),
            "object<object_test::nested,8,4:object<object_test::one,4,4:i4@0>@0,object<object_test::one,4,4:i4@0>@4>");
  EXPECT_EQ(described<others>(),
            "object<object_test::others,40,8:enum<i2>@0,bool@2,array<f4,2>@4,complex<f8>@16,"
            "opaque<void*,8,8>@32>");
  EXPECT_EQ((described<std::array<int, 3>>()), "array<i4,3>");
}

TEST(object_layout, bit_fields) {
  if (!little) GTEST_SKIP() << "other bits on big-endian processors, which is the point";
  EXPECT_EQ(described<bit_fields>(), "object<object_test::bit_fields,16,8:bitsffff0f@0,bitsf0@2,u1@3,u8@8>");
  EXPECT_EQ(described<as_if_whole>(), "object<object_test::as_if_whole,16,8:bitsffff0f@0,u4@4,u4@8>");
}

TEST(object_layout, members_that_tell_nothing) {
  EXPECT_EQ(described<constant>(), "object<object_test::constant,8,4:opaque<constant,4,4>,i4@4>");
  const std::string maybe = described<with_class>();
  EXPECT_TRUE(maybe.starts_with("opaque<") || maybe.find("opaque<std::optional[int],8,4>@0") != maybe.npos) << maybe;
  EXPECT_FALSE(ham::msg::layout_is_portable(maybe, true));
}

TEST(object_layout, classes_that_tell_nothing) {
  EXPECT_EQ(described<with_union>(), "opaque<object_test::with_union,16,8>");
  EXPECT_EQ(described<derived>(), "opaque<object_test::derived,8,4>");
  EXPECT_EQ(described<referring>(), "opaque<object_test::referring,8,8>");
  EXPECT_EQ(described<constructed>(), "opaque<object_test::constructed,4,4>");
  EXPECT_EQ(described<many>(), "opaque<object_test::many,100,1>");
  EXPECT_EQ(described<std::bitset<8>>().substr(0, 7), "opaque<");
  const auto lambda = [a = 1, b = 2.0] { return a + b; };
  EXPECT_TRUE(described<decltype(lambda)>().starts_with("opaque<"));
}

TEST(object_layout, classes_with_tuples_name_the_standard_library) {
#ifdef _LIBCPP_VERSION
  EXPECT_EQ(described<with_tuple>(), "opaque<object_test::with_tuple,16,8,libc++>");
#else
  EXPECT_EQ(described<with_tuple>(), "opaque<object_test::with_tuple,16,8,libstdc++>");
#endif
  EXPECT_EQ(ham::msg::layout_text<with_tuple>(), described<with_tuple>());
  EXPECT_FALSE(ham::msg::layout_is_portable(described<with_tuple>(), true));
  const auto lambda = [a = std::pair(1, 2.0)] { return a.first; };
  EXPECT_EQ(described<decltype(lambda)>().find("libstdc++"), std::string::npos);
}

TEST(object_layout, long_double_is_named) {
  const std::string text = described<long_one>();
  EXPECT_NE(text.find(std::numeric_limits<long double>::digits == 64 ? ":f80@0" : ":f"), text.npos) << text;
}

}  // namespace
