// Layout texts: what they say, that they end for recursive types, and which are portable.
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "ham/msg/codec.hpp"

namespace layout_test {

enum class level : int { low };
struct blob {
  int number;
  double value;
};
struct letter {
  char c;
};
template <class A, class B>
struct generic {
  A a;
  B b;
};
struct particle {
  double x = 0;
  std::string name;
  HAM_FIELDS(x, name)
};
struct tree {
  std::vector<tree> children;
  particle leaf, other;
  HAM_FIELDS(children, leaf, other)
};
struct archived {
  int a = 0;
  std::vector<archived> more;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(a, more);
  }
};
struct nothing {};
template <class T>
struct opaque {
  T value{};
  HAM_FIELDS(value)
};

}  // namespace layout_test

namespace {

using namespace ham::msg;
using namespace layout_test;

TEST(codec_layout, numbers_and_enumerations) {
  EXPECT_EQ((layout_text<std::int8_t, unsigned short, int, std::uint64_t, float, double, bool>()),
            "i1,u2,i4,u8,f4,f8,bool");
  EXPECT_EQ((layout_text<long, long long>()), "i8,i8");
  EXPECT_EQ((layout_text<char, char8_t, char16_t, char32_t, wchar_t>()), "char,char8,char16,char32,wchar4");
  EXPECT_EQ((layout_text<level, std::nullptr_t>()), "enum<i4>,null");
  EXPECT_EQ((layout_text<>()), "");
}

TEST(codec_layout, standard_types) {
  EXPECT_EQ((layout_text<std::string, std::u16string>()), "str,str<char16>");
  EXPECT_EQ((layout_text<std::vector<double>, std::vector<bool>>()), "vec<f8>,vec<bit>");
  EXPECT_EQ((layout_text<std::optional<int>, std::tuple<int, double>>()), "opt<i4>,tuple<i4,f8>");
  EXPECT_EQ((layout_text<std::map<std::string, int>>()), "map<str,i4>");
  EXPECT_EQ((layout_text<std::variant<int, std::pair<bool, char>>>()), "variant<i4,pair<bool,char>>");
  EXPECT_EQ((layout_text<std::array<float, 3>, std::tuple<void*>>()), "array<f4,3>,tuple<ptr>");
  EXPECT_EQ((layout_text<std::chrono::milliseconds>()), "duration<i8,1/1000>");
}

TEST(codec_layout, classes) {
  EXPECT_EQ(layout_text<blob>(), "object<layout_test::blob,16,8:i4@0,f8@8>");
  EXPECT_EQ(layout_text<nothing>(), "empty<layout_test::nothing>");
  EXPECT_EQ((layout_text<generic<int, double>>()), "object<layout_test::generic[int;double],16,8:i4@0,f8@8>");
  EXPECT_EQ(layout_text<particle>(), "fields<layout_test::particle:f8,str>");
  EXPECT_EQ(layout_text<archived>(), "serialize<layout_test::archived:i4,vec<serialize<layout_test::archived>>>");
}

TEST(codec_layout, recursive_types_end) {
  const std::string particle_text = "fields<layout_test::particle:f8,str>";
  EXPECT_EQ(layout_text<tree>(),
            "fields<layout_test::tree:vec<fields<layout_test::tree>>," + particle_text + "," + particle_text + ">");
  EXPECT_EQ(layout_text<tree>(), layout_text<tree>());
}

TEST(codec_layout, long_double_is_found) {
  EXPECT_TRUE(layout_has_long_double(layout_text<long double>()));
  EXPECT_TRUE(layout_has_long_double("object<a,32,16:i4@0,f128@16>"));
  EXPECT_TRUE(layout_has_long_double("complex<f128dd>"));
  EXPECT_FALSE(layout_has_long_double("object<my_f128,16,8:f8@0,i4@8>"));
  EXPECT_FALSE(layout_has_long_double(""));
}

TEST(codec_layout, portability) {
  EXPECT_TRUE((layout_is_portable(layout_text<int, std::string, particle, std::vector<double>>())));
  EXPECT_TRUE(layout_is_portable(layout_text<letter>())) << "one byte has no byte order";
  EXPECT_TRUE(layout_is_portable(layout_text<nothing>()));
  EXPECT_TRUE(layout_is_portable(""));
  EXPECT_FALSE(layout_is_portable(layout_text<blob>()));
  EXPECT_FALSE((layout_is_portable(layout_text<int, std::vector<blob>>())));
  EXPECT_TRUE((layout_is_portable(layout_text<int, std::vector<blob>>(), true)));
  EXPECT_FALSE(layout_is_portable("object<a,32,16:f80@0,i4@16>", true));
  EXPECT_FALSE(layout_is_portable("object<a,16,8:opaque<b,8,8>@0,i4@8>", true));
  EXPECT_TRUE(layout_is_portable("buffer_ptr<opaque<b,24,8>>,vec<i4>"));
  EXPECT_FALSE(layout_is_portable("buffer_ptr<opaque<b,24,8>>,opaque<b,24,8>"));
  EXPECT_FALSE(layout_is_portable("buffer_ptr<vec<i4>>->f80"));
  EXPECT_FALSE(layout_is_portable("f80"));
  EXPECT_FALSE(layout_is_portable("tuple<i4,f80>"));
  EXPECT_TRUE(layout_is_portable("f128"));
  EXPECT_FALSE(layout_is_portable("f128dd"));
  EXPECT_TRUE(layout_is_portable("fields<my_f80:i4>"));
  EXPECT_FALSE(layout_is_portable("fields<x:opaque<y,2,1>>"));
  EXPECT_FALSE(layout_is_portable("opaque<"));
  EXPECT_FALSE(layout_is_portable("i4,f80->void"));
  EXPECT_FALSE(layout_is_portable("i4->f80"));
  EXPECT_FALSE(layout_is_portable("i4->opaque<x,24,8>"));
  EXPECT_TRUE(layout_is_portable("i4->vec<f8>"));
  EXPECT_TRUE(layout_is_portable(layout_text<opaque<int>>())) << "a class of that name is not the word";
}

}  // namespace
