// Layout texts of calls.
#include "ham/msg/call_layout.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using ham::msg::call_layout;

double function(int, const std::string&) { return 0; }

TEST(CallLayout, IsCallableParametersResult) {
  using callable = std::remove_cvref_t<decltype(ham::fn<&function>)>;
  EXPECT_EQ((call_layout<callable, double, int, std::string>()), "empty,i4,str->f8");
  EXPECT_EQ((call_layout<callable, void>()), "empty->void");
}

TEST(CallLayout, DoesNotNameTheCallable) {
  int captured = 0;
  ++captured;
  const auto plain = ham::pooled(ham::named<"a">([] {}));
  const auto capturing = [captured] { return captured; };
  EXPECT_EQ((call_layout<std::remove_const_t<decltype(plain)>, void>()), "empty->void");
  EXPECT_EQ((call_layout<std::remove_const_t<decltype(capturing)>, int>()), "opaque<,4,4>->i4");
}

}  // namespace
