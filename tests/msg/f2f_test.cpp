// The macro f2f in all spellings: qualified, unqualified, with using directives, 0 to 29 arguments.
#include "ham/msg/f2f.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <type_traits>

// No using directive or declaration may stand above this namespace: f2f must be found without any.
namespace application {

template <class T>
struct buffer {
  T* at;
  std::size_t size;
};

double inner_product(buffer<double> x, buffer<double> y, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += x.at[i] * y.at[i];
  return sum;
}
static int hidden(const std::string& text) { return static_cast<int>(text.size()); }
template <class T>
T plus_one(T x) {
  return x + 1;
}
template <class A, class B>
A sum(A a, B b) {
  return a + static_cast<A>(b);
}
int over(int x) noexcept { return x; }
double over(double x) { return x / 2; }
struct tool {
  static int half(int x) { return x / 2; }
};
enum class colour { red, green };
colour other(colour c) { return c == colour::red ? colour::green : colour::red; }
bool is_null(std::nullptr_t p) { return p == nullptr; }

// clang-format off
int g0() { return 0; }
int g1(int a0) { return a0; }
int g2(int a0, int a1) { return a0 + a1; }
int g3(int a0, int a1, int a2) { return a0 + a1 + a2; }
int g7(int a0, int a1, int a2, int a3, int a4, int a5, int a6) {
  return a0 + a1 + a2 + a3 + a4 + a5 + a6;
}
int g16(int a0, int a1, int a2, int a3, int a4, int a5, int a6, int a7, int a8, int a9, int a10, int a11, int a12,
    int a13, int a14, int a15) {
  return a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9 + a10 + a11 + a12 + a13 + a14 + a15;
}
int g28(int a0, int a1, int a2, int a3, int a4, int a5, int a6, int a7, int a8, int a9, int a10, int a11, int a12,
    int a13, int a14, int a15, int a16, int a17, int a18, int a19, int a20, int a21, int a22, int a23, int a24,
    int a25, int a26, int a27) {
  return a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9 + a10 + a11 + a12 + a13 + a14 + a15 + a16 + a17 + a18 + a19 + a20 + a21 + a22 +
    a23 + a24 + a25 + a26 + a27;
}
int g29(int a0, int a1, int a2, int a3, int a4, int a5, int a6, int a7, int a8, int a9, int a10, int a11, int a12,
    int a13, int a14, int a15, int a16, int a17, int a18, int a19, int a20, int a21, int a22, int a23, int a24,
    int a25, int a26, int a27, int a28) {
  return a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9 + a10 + a11 + a12 + a13 + a14 + a15 + a16 + a17 + a18 + a19 + a20 + a21 + a22 +
    a23 + a24 + a25 + a26 + a27 + a28;
}
// clang-format on

TEST(F2fUnqualified, FindsTheMacroWithoutUsing) {
  double a[] = {1, 2, 3};
  const buffer<double> x{a, 3};
  const auto call = f2f(&inner_product, x, x, 3);
  static_assert(std::is_same_v<decltype(call)::result_type, double>);
  EXPECT_EQ(call(), 14);
}

TEST(F2fUnqualified, TakesEveryKindOfFunction) {
  EXPECT_EQ(f2f(&hidden, "four")(), 4);
  EXPECT_EQ(f2f(hidden, "four")(), 4);
  EXPECT_EQ(f2f(&plus_one<int>, 1)(), 2);
  EXPECT_EQ(f2f(plus_one<double>, 1)(), 2.0);
  EXPECT_EQ(f2f((&sum<double, int>), 1.5, 2)(), 3.5);
  EXPECT_EQ(f2f(static_cast<int (*)(int)>(&over), 3)(), 3);
  EXPECT_EQ(f2f(static_cast<double (*)(double)>(&over), 3)(), 1.5);
  EXPECT_EQ(f2f((int (*)(int) noexcept) & over, 3)(), 3);
  EXPECT_EQ(f2f(&tool::half, 8)(), 4);
  EXPECT_EQ(f2f(&other, colour::red)(), colour::green);
  EXPECT_TRUE(f2f(&is_null, nullptr)());
  constexpr auto address = &tool::half;
  EXPECT_EQ(f2f(address, 8)(), 4);
}

TEST(F2fUnqualified, TakesAnyNumberOfArguments) {
  EXPECT_EQ(f2f(&g0)(), 0);
  EXPECT_EQ(f2f(&g1, 0)(), 0);
  EXPECT_EQ(f2f(&g2, 0, 1)(), 1);
  EXPECT_EQ(f2f(&g3, 0, 1, 2)(), 3);
  EXPECT_EQ(f2f(&g7, 0, 1, 2, 3, 4, 5, 6)(), 21);
  EXPECT_EQ(f2f(&g16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)(), 120);
  EXPECT_EQ(
      f2f(&g28, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27)(),
      378);
  EXPECT_EQ(f2f(&g29, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26,
                27, 28)(),
            406);
}

TEST(F2fQualified, FindsTheSameThing) {
  EXPECT_EQ(ham::f2f(&g2, 1, 2)(), 3);
  EXPECT_EQ(ham::offload::f2f(&g2, 1, 2)(), 3);
  EXPECT_EQ(ham::msg::f2f(&g2, 1, 2)(), 3);
  EXPECT_EQ(ham::f2f(&g0)(), 0);
  EXPECT_EQ(ham::f2f<&g2>(1, 2)(), 3);
  EXPECT_EQ(ham::offload::f2f<&g2>(1, 2)(), 3);
  static_assert(std::is_same_v<decltype(f2f(&g2, 1, 2)), decltype(ham::f2f<&g2>(1, 2))>);
}

}  // namespace application

namespace with_directives {

using namespace ham;
using namespace ham::offload;

TEST(F2fUsingDirectives, AreNotAmbiguous) {
  EXPECT_EQ(f2f(&application::g2, 1, 2)(), 3);
  EXPECT_EQ(offload::f2f(&application::g2, 1, 2)(), 3);
  EXPECT_EQ(ham::f2f(&application::g2, 1, 2)(), 3);
  EXPECT_EQ(f2f<&application::g2>(1, 2)(), 3);
  EXPECT_EQ(offload::f2f<&application::g2>(1, 2)(), 3);
}

template <class T>
T in_a_template(T x) {
  return f2f(&application::plus_one<T>, x)();
}

TEST(F2fUsingDirectives, WorkInTemplates) { EXPECT_EQ(in_a_template(2), 3); }

}  // namespace with_directives

namespace ham::inline v1 {

TEST(F2fInside, WorksInOurOwnNamespace) { EXPECT_EQ(f2f(&application::g2, 1, 2)(), 3); }

}  // namespace ham

using namespace ham;
TEST(F2fGlobalUsing, WorksAtTheTopOfAFile) {
  EXPECT_EQ(f2f(&application::g2, 1, 2)(), 3);
  EXPECT_EQ(offload::f2f(&application::g2, 1, 2)(), 3);
  EXPECT_EQ(f2f<&application::g2>(1, 2)(), 3);
}
